# SPDX-License-Identifier: Apache-2.0
#
# What Doxygen reads instead of a header: the same lines, so that a warning names the line of the header, where
#   - inline namespaces (the version of the binary interface, the instruction set) are gone, since nobody writes them;
#   - members that are defaulted or deleted, friends that only open a door, and aliases that give a type's own argument a
#     name are gone, since the declaration says all there is to say;
#   - an overload without a sentence has that of the function of its name above it, as a reader of the header takes it;
#   - one-line functions right below a function with a sentence share it, as a group;
#   - operators of iterators and containers say that they are those of the standard library.

function name_of(line,   found) {
  sub(/^.*requires\([^()]*(\([^()]*\)[^()]*)*\) +/, "", line)
  if (match(line, /operator *(\(\)|\[\]|[^ (A-Za-z]+|[A-Za-z_]+)? *\(/) || match(line, /[A-Za-z_][A-Za-z_0-9]* *\(/)) {
    found = substr(line, RSTART, RLENGTH - 1)
    gsub(/ /, "", found)
    return found
  }
  return ""
}

function gensub_clause(line) {
  if (line ~ /\) (const )?requires [A-Za-z_:<>, ]+ \{$/) sub(/ requires [A-Za-z_:<>, ]+ \{$/, " {", line)
  return line
}

function is_standard(name) {
  return name ~ /^(begin|end|empty|front|back|push_back|pop_back|clear|reserve|swap|operator(\[\]|\*|->|\+\+|--|[-+]=|[-+]|==|<=>))$/
}

# What a concept asks of many types is said there.
function concept_of(name) {
  if (FILENAME ~ /\/ops\// && name == "run") return "Computes the operation on the host; the team shares its elements."
  if (FILENAME ~ /\/optim\// && name ~ /^(update|values|prepare|numbers)$/) return "As the concept optim::Rule asks."
  if (FILENAME ~ /\/sampler\.hpp$/ && name == "order") return "As the concept data::Sampler asks: the samples of an epoch, in order."
  if (FILENAME ~ /\/schedules\.hpp$/ && name ~ /^(name|stages_per_rank|rank_of|order|multiple_of|least_micro_batches)$/)
    return "As the concept pipeline::ScheduleKind asks."
  if (name == "operator=") return "Takes or shares what the other holds, after giving up its own."
  return ""
}

# The column at which declarations stand: of a namespace, or of the type that is open.
function is_declaration(line, column) {
  return column == 2 * depth && line !~ /^ *(\/\/|#|}|public:|protected:|private:|static_assert|$)/
}

BEGIN { depth = 0 }

{
  line = $0
  if (line !~ /^ *$/) before = grouped_now; else before = 0
  grouped = before
  grouped_now = 0
}

# "namespace twill { inline namespace v0 { namespace nn {" opens twill::nn, and one brace closes it. A line of closing braces
# may end several such lines.
/^(inline )?namespace [^=]*\{$/ {
  braces[++opened] = gsub(/\{/, "{", line)
  gsub(/inline namespace [A-Za-z0-9_]+ \{ ?/, "", line)
  gsub(/ \{ namespace /, "::", line)
  sub(/ $/, "", line)
  print line == "" ? "extern \"C++\" {" : line
  depth = 0
  next
}
/^}+ \/\/ namespace / {
  match(line, /^}+/)
  for (left = RLENGTH; left > 0 && opened > 0; --opened) {
    left -= braces[opened]
    printf "}"
  }
  print ""
  next
}

{
  # Clauses that Doxygen takes for something else.
  sub(/explicit\([^()]*\)/, "explicit", line)
  line = gensub_clause(line)
  match(line, /^ */)
  column = RLENGTH
  documented = previous_is_comment
  previous_is_comment = 0

  if (line ~ /^ *\/\/\/( |$)/) {
    text = line
    sub(/^ *\/\/\/ ?/, "", text)
    sentence = (in_comment ? sentence " " : "") text
    in_comment = previous_is_comment = 1
    print line
    next
  }
  in_comment = 0

  if (depth > 0 && column == 2 * (depth - 1) && line ~ /^ *\}/) depth -= 1
  else if (is_declaration(line, column)) {
    if (line ~ /= (default|delete)(\("[^"]*"\))?;/ || line ~ /^ +(template <.*> )?friend (class|struct) [^;]*;/ ||
        line ~ /^ +using [A-Za-z_]+ = (typename )?[A-Za-z_:]+;/ ||
        line ~ /^ +using (value_type|difference_type|size_type|reference|pointer|iterator_category|iterator_concept|type|device_type|shape_type) = /) {
      if (!documented) { print ""; next }
    }
    # A specialisation is no name of its own.
    if (depth == 0 && line ~ /^template <.*> inline constexpr bool is_[a-z_]+<.*> = true;$/) { print ""; next }
    if (!documented && line !~ /\/\/\/</ && line ~ /^ +static constexpr .*[ >](numbers|name|stages_per_rank)( =|\{)/) {
      match(line, /(numbers|name|stages_per_rank)/)
      meets = concept_of(substr(line, RSTART, RLENGTH))
      if (meets != "") line = "/** " meets " */ " line
    }
    opens = line ~ /^ *(template <.*> )?(requires.* )?(struct|class|union) [^;(]*\{$/ ||
            line ~ /^ *(template <.*> )?(struct|class) (TWILL_EXPORT )?[A-Za-z_]+[^;()]*\{$/
    if (line ~ /^ *template <.*> *$/ || line ~ /^ *template <[^>]*,$/ || line ~ /^ *(requires|template)[ (]/ && name_of(line) == "") {
      if (documented) template_documented = 1
      previous_is_comment = documented && line !~ /[{;}]$/
      if (line ~ /(struct|class) [A-Za-z_]+/ && line ~ /\{$/) depth += 1
      if (line ~ /^template <> struct KernelOf</) line = "/** The kernel of this operation on hosts. */ " line
      print line
      next
    }
    if (!opens && line !~ /^ *(using|enum|concept|extern)/) {
      name = name_of(line)
      if (name != "") {
        grouped_now = documented || grouped
        key = depth SUBSEP name
        if (documented || line ~ /\/\/\/</) said[key] = documented ? sentence : said[key]
        else if (depth > 0 && is_standard(name)) prefix = "/** As that of the standard library's containers and iterators. */"
        else if (key in said) prefix = "/** " said[key] " */"
        else if ((meets = concept_of(name)) != "") prefix = "/** " meets " */"
        else if (depth == 0 && grouped) prefix = "/** " sentence " */"
        if (prefix != "") { match(line, /^ */); line = substr(line, 1, RLENGTH) prefix " " substr(line, RLENGTH + 1); prefix = "" }
      }
    }
    if (opens || line ~ /^ *(template <.*>)? *(struct|class) .*\{$/) {
      depth += 1
      for (key in said) { split(key, part, SUBSEP); if (part[1] >= depth) delete said[key] }
    }
  }
  print line
}
