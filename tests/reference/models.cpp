// SPDX-License-Identifier: Apache-2.0
//
// Lines of code of docs/reference/models.md: tools/reference/lines.py says how they are found. They are compiled, not run.

#include <twill/all.hpp>

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace twill;
using graph::Value;

// clang-format off

// Losses: `logits` and `log_p` are (batch, classes), `label` (batch) integers, `y` and `target` of one shape, `p` in (0, 1).
// Losses are called inside a model, passed to `train_step`, or called on the result of `model.forward(x)`.
constexpr void losses(Value logits, Value log_p, Value label, Value y, Value target, Value p, Value log_p_of_steps, Value words,
                      Value steps, Value lengths) {
  // PyTorch: the classes are on the last axis, not on axis 1; no label is ignored, where PyTorch ignores -100.
  { const Value loss = nn::cross_entropy(logits, label, {.label_smoothing = 0.1}); }
  // PyTorch: the classes are on the last axis, not on axis 1; no label is ignored, where PyTorch ignores -100.
  { const Value loss = nn::nll(log_p, label, {.ignore_index = -100}); }
  // PyTorch: `BCEWithLogitsLoss`.
  { const Value loss = nn::bce_with_logits(logits, target, {.pos_weight = 3.0}); }
  // PyTorch: `BCELoss`; logarithms are cut at -100 there, too.
  { const Value loss = nn::bce(p, target); }
  // PyTorch: `batchmean`, its mathematical divergence, is `KlReduce::batch_mean`.
  { const Value loss = nn::kl_divergence(log_p, p, {.reduce = nn::KlReduce::batch_mean}); }
  { const Value loss = nn::mse(y, target); }
  { const Value loss = nn::l1(y, target, {.reduce = nn::Reduce::sum}); }
  { const Value loss = nn::huber(y, target, {.delta = 0.5}); }
  { const Value loss = nn::smooth_l1(y, target, {.beta = 0.5}); }
  { const Value loss = nn::hinge_embedding(y, target); }
  { const Value loss = nn::soft_margin(y, target); }
  { const Value loss = nn::multilabel_soft_margin(logits, p); }
  { const Value loss = nn::multilabel_margin(logits, words); }
  { const Value loss = nn::multi_margin(logits, label, {.power = 2}); }
  { const Value loss = nn::margin_ranking(y, p, target, {.margin = 0.1}); }
  { const Value loss = nn::cosine_embedding(logits, log_p, target); }
  // PyTorch: `.order` is its `p`, `.epsilon` its `eps`.
  { const Value loss = nn::triplet_margin(logits, log_p, y, {.margin = 0.5}); }
  { const Value loss = nn::poisson_nll(y, target); }
  // PyTorch: `.is_full` is its `full`.
  { const Value loss = nn::gaussian_nll(y, target, p); }
  // PyTorch: torchvision's `sigmoid_focal_loss`, which has no reduction unless told otherwise.
  { const Value loss = nn::focal(logits, p); }
  // PyTorch: targets are rows of a matrix; the gradient is that of the formula, and one of log-probabilities that come from
  // `log_softmax` is the same behind it; `.zero_infinity` has its name.
  { const Value loss = nn::ctc_loss(log_p_of_steps, words, steps, lengths, {.blank = 0, .zero_infinity = true}); }
  // PyTorch: `CTCLoss` with targets of one axis; `.longest` bounds the lengths of targets.
  { const Value loss = nn::concatenated_ctc_loss(log_p_of_steps, label, steps, lengths, {.longest = 20}); }
  { const auto smoothed = nn::loss([](auto x, auto t) { return nn::cross_entropy(x, t, {.label_smoothing = 0.1}); }); }
  { const Value loss = nn::cross_entropy(logits, label, {.ignore_index = nn::no_index}); }
}

// Layers: `x` is (batch, features), `sequence` (batch, channels, length), `image` (batch, channels, height, width), `volume` has a
// depth before its height, and `token` is integers of any shape. A layer's name is that of its weights in a state dictionary.
constexpr void layers(Value x, Value sequence, Value image, Value token, Value volume) {
  // PyTorch: the number of inputs is that of the last axis.
  { const Value y = nn::linear(x, 128, "hidden", {.bias = false}); }
  { const nn::BiasOption bias = nn::initialise::zeros(); }
  // PyTorch: `.padding` is its `padding_idx`.
  { const Value y = nn::embedding(token, 1000, 64, "token"); }
  { const Value y = nn::conv1d(sequence, 32, "conv", {.kernel = 3, .padding = 1}); }
  // PyTorch: the number of input channels is that of the image.
  { const Value y = nn::conv2d(image, 32, "conv1", {.kernel = 3, .stride = 2, .padding = 1}); }
  { const Value y = nn::conv_transpose1d(sequence, 16, "up", {.kernel = 2, .stride = 2}); }
  { const Value y = nn::conv_transpose2d(image, 16, "up", {.kernel = 2, .stride = 2}); }
  // PyTorch: the number of input channels is that of the volume.
  { const Value y = nn::conv3d(volume, 32, "conv", {.kernel = 3, .padding = 1}); }
  { const Value y = nn::conv_transpose3d(volume, 16, "up", {.kernel = 2, .stride = 2}); }
  { const Value y = nn::max_pool3d(volume, {.window = {1, 2, 2}}); }
  { const Value y = nn::avg_pool3d(volume, {.window = 2}); }
  { const Value y = nn::adaptive_avg_pool3d(volume, 1); }
  { const Value y = nn::adaptive_max_pool3d(volume, {1, 7, 7}); }
  { const Value y = nn::max_pool1d(sequence, {.window = 2}); }
  { const Value y = nn::max_pool2d(image, {.window = 3, .stride = 2, .padding = 1}); }
  { const Value y = nn::avg_pool1d(sequence, {.window = 2}); }
  { const Value y = nn::avg_pool2d(image, {.window = 2}); }
  { const Value y = nn::adaptive_avg_pool1d(sequence, 1); }
  { const Value y = nn::adaptive_avg_pool2d(image, 1); }
  { const Value y = nn::adaptive_max_pool1d(sequence, 4); }
  { const Value y = nn::adaptive_max_pool2d(image, 7); }
  // PyTorch: the probability is 0.5 unless given.
  { const Value y = nn::dropout(x, 0.25); }
  // PyTorch: the probability is 0.5 unless given.
  { const Value y = nn::dropout1d(sequence, 0.25); }
  // PyTorch: the probability is 0.5 unless given.
  { const Value y = nn::dropout2d(image, 0.25); }
  // PyTorch: bags are rows of a matrix of indices, or parts of a line of them, `embedding_bag(index, offsets, ...)`, where
  // `include_last_offset` is missing; `.padding` is its `padding_idx`, `.weights` its `per_sample_weights`.
  { const Value y = nn::embedding_bag(token, 1000, 64, "words", {.mode = nn::BagMode::sum}); }
  { const Value y = nn::prelu(image, "slope", {.parameters = 1}); }
}

// Norms: layers with weights; the functions `layer_norm(x)`, `rms_norm(x)` and `normalize(x)` have none.
constexpr void norms(Value x, Value image) {
  { const Value y = nn::batch_norm(image, "bn1"); }
  { const Value y = nn::layer_norm(x, "norm"); }
  // PyTorch: `eps` is that of the element type unless given.
  { const Value y = nn::rms_norm(x, "norm"); }
  { const Value y = nn::group_norm(image, 4, "norm"); }
  // PyTorch: running statistics, which it does not keep by default either, are not offered.
  { const Value y = nn::instance_norm(image, "norm", {.is_affine = true}); }
  { const Value y = local_response_norm(image, 5); }
  { const Value w = nn::spectral_norm(x.graph(), "weight", {64, 32}, nn::initialise::xavier_uniform()); }
  // PyTorch: `.axis = -1` is `dim=None`.
  { const Value w = nn::weight_norm(x.graph(), "weight", {64, 32}, nn::initialise::kaiming_uniform()); }
}

// Mixtures of experts: `x` is (groups, tokens, width), `label` (groups, tokens), `logits` (groups, tokens, classes).
constexpr void experts(Value x, Value logits, Value label) {
  { const Value y = x + nn::mixture_of_experts(x, 8, 256, "moe", {.top_k = 2, .capacity_factor = 1.25}); }
  { const std::int64_t places = nn::expert_capacity(512, 8, {.top_k = 2}); }
  { const Value y = nn::auxiliary_loss(x, 1e-4 * mean(square(x))); }
  { const Value loss = nn::with_auxiliary_losses(nn::cross_entropy)(logits, label); }
  { const Value y = nn::carry_auxiliary_losses(x); }
  { const Value loss = nn::with_carried_losses(nn::mse)(x, label); }
}

// Attention: `query` is (batch, heads, queries, width), `key` and `value` (batch, heads, keys, width), `x` (batch, steps, width).
constexpr void attention(Value query, Value key, Value value, Value x) {
  { const Value y = nn::scaled_dot_product_attention(query, key, value, {.is_causal = true}); }
  // PyTorch: rows come first, as with `batch_first=True`; in a boolean `mask` true takes part, the contrary of its `attn_mask`.
  { const Value y = nn::multi_head_attention(x, x, x, 8, "attention", {.is_causal = true, .dropout = 0.1}); }
  { const auto [y, weights] = nn::attention_with_weights(query, key, value); }
  // PyTorch: `need_weights=True`.
  { const auto [y, weights] = nn::multi_head_attention_with_weights(x, x, x, 8, "attention"); }
  // PyTorch: `TransformerEncoderLayer(batch_first=True)`.
  { const Value y = nn::transformer_encoder_layer(x, 8, "layer0", {.feed_forward = 512}); }
  // PyTorch: `TransformerDecoderLayer(batch_first=True)`.
  { const Value y = nn::transformer_decoder_layer(x, x, 8, "layer0", {.is_causal = true}); }
  { const Value y = nn::composed_attention(query, key, value, {.scale = 0.125}); }
  { const Value y = streamed_attention(query, key, value); }
}

// Recurrent layers: `x` is (steps, rows, features), or with `.batch_first` (rows, steps, features); `row` is (rows, features) and
// `state` (rows, units).
constexpr void recurrent_layers(Value x, Value lengths, Value row, Value state) {
  { const Value last = nn::rnn(x, 64, "rnn", {.function = nn::RnnFunction::relu}).hidden; }
  // PyTorch: `.lengths` is what `pack_padded_sequence` is for.
  { const auto [output, hidden, cell] = nn::lstm(x, 256, "lstm", {.layers = 2, .batch_first = true, .lengths = lengths}); }
  { const Value output = nn::gru(x, 64, "gru", {.is_bidirectional = true}).output; }
  { const Value next = nn::rnn_cell(row, state, "cell"); }
  // PyTorch: `LSTM(proj_size=64)`, where the projection has to be smaller than the hidden size.
  { const auto [output, hidden, cell] = nn::projected_lstm(x, 256, 64, "lstm", {.layers = 2}); }
  { const auto [hidden, cell] = nn::lstm_cell(row, {state, state}, "cell"); }
  { const Value next = nn::gru_cell(row, state, "cell"); }
}

// Activations: of values in models and, where they are elementwise, of tensors. Functions along an axis take the last one.
constexpr void activations(Value x, Value a, Value b, Value scale, Value shift) {
  { const Value y = relu(x); }
  { const Value y = leaky_relu(x, 0.2); }
  { const Value y = sigmoid(x); }
  { const Value y = silu(x); }
  { const Value y = gelu(x); }
  { const Value y = gelu_accurate(x); }
  { const Value y = gelu_tanh(x); }
  { const Value y = softplus(x); }
  { const Value y = logsigmoid(x); }
  { const Value y = mish(x); }
  { const Value y = hardswish(x); }
  { const Value y = elu(x, 0.5); }
  { const Value y = celu(x); }
  { const Value y = selu(x); }
  { const Value y = hardtanh(x, -2, 2); }
  { const Value y = relu6(x); }
  { const Value y = hardsigmoid(x); }
  { const Value y = softsign(x); }
  { const Value y = tanhshrink(x); }
  { const Value y = softshrink(x); }
  { const Value y = hardshrink(x); }
  { const Value y = threshold(x, 0.1, 0); }
  { const Value y = glu(x); }
  { const Value y = prelu(x, a); }
  // PyTorch: `dim` is an argument without a default there.
  { const Value y = softmax(x); }
  // PyTorch: `dim` is an argument without a default there.
  { const Value y = softmin(x); }
  { const Value y = log_softmax(x, 1); }
  // PyTorch: the axis stays, as with `keepdim=True`.
  { const Value y = logsumexp(x); }
  { const Value y = layer_norm(x, scale, shift); }
  { const Value y = rms_norm(x); }
  // PyTorch: along the last axis, not along axis 1.
  { const Value y = normalize(x); }
  // PyTorch: along the last axis, not along axis 1.
  { const Value y = cosine_similarity(a, b); }
}

// First values of weights: for `nn::parameter` and for the options `.weight` and `.bias` of layers. Names and formulas are PyTorch's.
constexpr void first_values() {
  { const auto first = nn::initialise::constant(0.5); }
  { const auto first = nn::initialise::zeros(); }
  { const auto first = nn::initialise::ones(); }
  { const auto first = nn::initialise::uniform(-0.1, 0.1); }
  { const auto first = nn::initialise::normal(0, 0.02); }
  { const auto first = nn::initialise::trunc_normal(0, 0.02); }
  { const auto first = nn::initialise::orthogonal(); }
  { const auto first = nn::initialise::eye(); }
  { const auto first = nn::initialise::dirac(); }
  { const double gain = nn::initialise::gain_of(nn::initialise::Nonlinearity::tanh); }
  { const auto first = nn::initialise::kaiming_uniform({.nonlinearity = nn::initialise::Nonlinearity::relu}); }
  { const auto first = nn::initialise::kaiming_normal(); }
  { const auto first = nn::initialise::xavier_uniform(); }
  { const auto first = nn::initialise::xavier_normal(2.0); }
}

// Inputs, weights and names: a model is a struct with `static constexpr auto forward(Input<Dim<"batch">, 784> x)`.
constexpr void weights(Value x, Value mean) {
  { struct Mlp { static constexpr auto forward(Input<Dim<"batch">, 784> x) { return nn::linear(x, 10, "output"); } }; }
  { using Image = Input<Dim<"batch">, 3, 224, 224>; }
  { using Tokens = InputOf<std::int64_t, Dim<"batch">, Dim<"steps">>; }
  { const Value scale = nn::parameter(x.graph(), "scale", {256}, nn::initialise::ones()); }
  { const Value running = nn::buffer(x.graph(), DType::float32, "running_mean", mean.shape(), nn::initialise::zeros()); }
  { nn::update_buffer(nn::buffer(x.graph(), DType::float32, "mean", mean.shape(), nn::initialise::zeros()), mean); }
  { const Value noisy = where(nn::is_training(x.graph()), x + 0.1, x); }
  { const nn::Scope block{x.graph(), "layer", 3}; }
  { const Value scores = nn::tap(x, "scores"); }
}

struct Classifier {
  static constexpr auto forward(Input<Dim<"batch">, 8> x) { return nn::linear(nn::dropout(x, 0.1), 3, "output"); }
};
using Matrix = Tensor<float, Cpu, Shape<dyn, 8>>;
using Labels = Tensor<std::int64_t, Cpu, Shape<dyn>>;
using Model = Classifier;

// Networks: `Model` is a struct with a `forward`; `x` is a batch of inputs.
void networks(nn::Network<Model, Cpu>& model, const Matrix& x, const Labels& label) {
  { nn::Network<Model, Cpu> model{Cpu{0}}; }
  { const auto loss = nn::mean(model.forward(x)); }
  { const auto loss = nn::sum(model.forward(x)); }
  { const auto moved = nn::to(model.forward(x), Cpu{1}); }
  { const nn::NoGrad scope; }
  { const bool keeps_nothing = nn::is_no_grad(); }
  { nn::Network<nn::Autocast<Model>> model{Cpu{0}}; }
  { nn::Network<nn::Hooked<Model>> model{Cpu{0}}; }
  // PyTorch: `Embedding(max_norm=1)`, which shortens the rows that forward looks up before it does.
  { nn::renormalise_rows<"output.weight">(model, {.max_norm = 1}); }
  { nn::Network<nn::Fit<Model, 8'388'608, nn::Size<"batch", 64>>> model{Cpu{0}}; }
}
constexpr void parts_of_networks(Value x) {
  { const Value on_second = nn::to(x, nn::Slot{1}); }
  { const Value y = nn::in_float32(x, [](Value v) { return exp(v); }); }
}

// State dictionaries: tensors by the names of PyTorch's `state_dict`, for files and for other networks.
void states(nn::Network<Model, Cpu>& model, const nn::StateDict& state) {
  { const nn::StateDict state = nn::state_dict(model); }
  { nn::load_state_dict(model, state, {.is_strict = false}); }
  { const nn::StateDict ours = nn::renamed(state, [](const std::string& name) { return std::optional{name + "_orig"}; }); }
  { const nn::StateDict wrapped = nn::with_prefix(state, "module."); }
  { const nn::StateDict bare = nn::without_prefix(state, "module."); }
  { const nn::StateDict encoder = nn::part(state, "encoder."); }
  { const nn::StateDict both = nn::joined({nn::with_prefix(state, "a."), nn::with_prefix(state, "b.")}); }
}

// Functions of values: what a `forward` calls beside layers; elementwise functions and operators are those of tensors. Axes are
// arguments, negative ones count from the end.
constexpr void functions(Value x, Value y, Value w, Value bias, Value image, Value sequence, Value index, Value filters, Value kernel, Value grid, Value theta,
                         Value volume, Value kernels, Value lengths) {
  { const Value product = einsum<"bij,bjk->bik">(x, y); }
  { const Value product = tensordot<1>(x, y); }
  { const Value product = outer(x, y); }
  { const Value product = inner(x, y); }
  { const Value product = dot(x, y); }
  { const Value product = vecdot(x, y); }
  { const Value product = bmm(x, y); }
  { const Value product = kron(x, y); }
  // PyTorch: the order is a tag, `order<1>`, or a number.
  { const Value length = norm<1>(x); }
  { const Value distance = pairwise_distance(x, y); }
  { const Value distances = cdist(x, y); }
  // PyTorch: `repeat_interleave`.
  { const Value each_twice = repeat(x, 1, 2); }
  { const Value all_twice = tile(x, 2, 1); }
  { const Value steps = diff(x); }
  { const Value running = cumprod(x, 1); }
  // PyTorch: without the places.
  { const Value running = cummax(x, 1); }
  // PyTorch: without the places.
  { const Value running = cummin(x, 1); }
  { const Value is_any = any<1>(x); }
  // PyTorch: `all`.
  { const Value are_all = all_of<1>(x); }
  { const Value wider = pad_replicate(x, 1, {2, 2}); }
  { const Value wider = pad_circular(x, 1, {2, 2}); }
  { const Value patches = unfold(image, {.kernel = 3, .padding = 1}); }
  { const Value images = fold(x, {8, 8}, {.kernel = 2, .stride = 2}); }
  { const Value larger = pixel_shuffle(image, 2); }
  { const Value smaller = pixel_unshuffle(image, 2); }
  { const Value y = sum(x, {1}, graph::KeepDims::yes); }
  { const Value y = mean(x, {-1}); }
  { const Value y = max(x, {1}); }
  { const Value y = min(x); }
  { const Value y = prod(x, {0, 1}); }
  { const Value y = var(x, {-1}, 1.0); }
  { const Value y = broadcast_to(bias, x.shape()); }
  { const Value y = reshape(x, w.shape()); }
  { const Value y = transpose(image, {0, 2, 3, 1}); }
  { const Value y = unsqueeze(x, 1); }
  { const Value y = flatten(image); }
  { const Value y = squeeze(image, 1); }
  { const Value y = stddev<1>(x); }
  { const Value y = ptp<1>(x); }
  { const Value y = count_nonzero<1>(x); }
  { const Value y = unflatten(x, 1, {1, 28, 28}); }
  { const Value y = cast(x, DType::float32); }
  { const Value y = stop_gradient(x); }
  { const Value place = argmax<-1>(x); }
  { const Value place = argmin<-1>(x); }
  { const Value one = constant(x.graph(), DType::float32, 1); }
  { const Value positions = iota(x.graph(), x.shape()); }
  { const Value noise = random_uniform(x.graph(), x.shape()); }
  { const Value z = concatenate({x, y}, 1); }
  { const Value z = stack({x, y}); }
  { const Value y = roll(x, 1, -1); }
  // PyTorch: `pad_sequence` of the parts of a line.
  { const Value rows = padded_rows(x, lengths, 20); }
  { const Value y = conv1d(sequence, kernel, {.padding = 1}); }
  { const Value y = conv2d(image, filters, bias, {.stride = 2}); }
  { const Value y = conv3d(volume, kernels, {.padding = 1}); }
  { const Value y = conv_transpose3d(volume, kernels, {.stride = 2}); }
  { const Value y = conv_transpose1d(sequence, kernel, {.stride = 2}); }
  { const Value y = conv_transpose2d(image, filters, {.stride = 2}); }
  { const Value y = cumsum(x, 1); }
  { const Value rows = take(x, index); }
  { const Value rows = index_select(x, 0, index); }
  { const Value y = take_along_axis(x, index, 1); }
  { const Value z = scatter_add(x, 0, index, y); }
  { const Value z = index_add(x, 0, index, y); }
  // PyTorch: the number of classes is given, never that of the largest index.
  { const Value y = one_hot(index, 10); }
  { const Value y = interpolate(image, {.size = 224, .mode = kernel::Interpolation::linear}); }
  // PyTorch: `interpolate` in the modes bicubic, trilinear, area and nearest-exact, and with `antialias`.
  { const Value y = resample(image, {.size = 224, .mode = graph::Resampling::cubic, .antialias = graph::Antialias::yes}); }
  { const graph::AlongSides<std::int64_t> size{16, 224, 224}; }
  { const Value y = grid_sample(image, grid, {.padding = graph::GridPadding::border}); }
  { const Value places = affine_grid(theta, {224, 224}); }
  { const Value y = matmul(x, w); }
  { const Value y = pad(x, -1, {.before = 1, .after = 1}); }
  { const Value y = pad_reflect(x, -1, {.before = 2, .after = 2}); }
  { const Value y = slice_axis(x, 1, {.begin = 2, .step = 3}); }
  { const Value y = narrow(x, 1, 0, 8); }
  { const Value first = select(x, 1, 0); }
  { const auto halves = chunk<2>(x, 1); }
  { const Value y = flip(x, {0}); }
  { const Value order = argsort(x); }
  { const Value sorted = sort(x, -1, graph::Order::descending).values; }
  { const Value largest = topk(x, 5).values; }
  { const Value third = kthvalue<1>(x, 3).values; }
  { const auto [q, k, v] = split<3>(x, -1); }
  { const Value y = tril(x); }
  { const Value y = triu(x, 1); }
}

// Gradients, loops and checkpoints: inside models. Functions of tensors have `grad(f)` and `value_and_grad(f)`.
constexpr void loops(Value loss, Value x, Value state) {
  { const Value by_x = gradient(loss, x); }
  { const auto totals = scan(std::array{state}, std::array{x}, [](Value s, Value e) { return graph::Step<1, 1>{{s + e}, {s + e}}; }); }
  // PyTorch: `torch.utils.checkpoint.checkpoint(f, x)`.
  { const Value y = checkpoint([](auto value) { return tanh(nn::linear(value, 16, "inner")); })(x); }
  // PyTorch: `torch.utils.checkpoint.checkpoint_sequential(functions, segments, x)` holds an input of each segment.
  { const Value y = checkpoint_sequential([](auto v, int) { return tanh(v * v); }, {.parts = 12, .snapshots = 3})(x); }
  { const std::int64_t again = extra_evaluations(12, 3); }
}
