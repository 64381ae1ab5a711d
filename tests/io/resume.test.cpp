// SPDX-License-Identifier: Apache-2.0
//
// Training that stops and goes on from a checkpoint is the same training, to the last bit: weights, rule and its
// options, loss scale, schedule, dropout, and the place in a shuffled epoch.

#include "tests/support/message_of.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_seed.hpp"
#include "tests/training/models.hpp"

#include <twill/data/loader.hpp>
#include <twill/data/tensor_dataset.hpp>
#include <twill/io/checkpoint_folder.hpp>
#include <twill/io/training.hpp>
#include <twill/nn/losses.hpp>
#include <twill/optim/adam.hpp>
#include <twill/optim/loss_scale.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/training/train_step.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

using Model = nn::Network<DropoutClassifier, Cpu>;

constexpr optim::LossScaleOptions scale_options{.initial = 1024, .interval = 3}; // grows within the test
constexpr optim::AdamOptions adam_options{.beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-6, .weight_decay = 0.01};

auto loader_on(Cpu device) {
  constexpr std::int64_t samples = 10;
  std::vector<std::int64_t> labels(samples);
  for (std::int64_t i = 0; i < samples; ++i) labels[static_cast<std::size_t>(i)] = i % 3;
  return data::DataLoader{
      data::TensorDataset{data::column<Shape<5>>(random_values<float>(samples * 5)), data::column(labels)},
      data::ShuffledSampler{7},
      device,
      {.batch_size = 4}};
}

/// What a program has while it trains.
struct Run {
  explicit Run(int device, optim::AdamOptions given = adam_options)
      : model{Cpu{device}}, loader{loader_on(Cpu{device})}, adam{given} {}

  void train(int steps) {
    while (steps > 0)
      for (auto [x, label] : loader) {
        driver.update();
        step(x, label);
        if (--steps == 0) break;
      }
  }
  [[nodiscard]] io::Checkpoint save() const {
    io::Checkpoint checkpoint = io::checkpoint_of(model, step);
    io::set_position(checkpoint, "loader", loader.position());
    return checkpoint;
  }
  training::OptionsReport restore(const io::Checkpoint& checkpoint) {
    training::OptionsReport report = io::restore(checkpoint, model, step);
    loader.set_position(io::position_of(checkpoint, "loader"));
    return report;
  }

  Model model;
  decltype(loader_on(Cpu{})) loader;
  optim::Adam adam;
  decltype(train_step(std::declval<Model&>(), nn::cross_entropy,
                      optim::loss_scaled<scale_options>(optim::Adam{}))) step =
      train_step(model, nn::cross_entropy, optim::loss_scaled<scale_options>(adam));
  decltype(optim::scheduled(step, optim::warm_up(2, optim::Cosine{}))) driver =
      optim::scheduled(step, optim::warm_up(2, optim::Cosine{.rate = 0.01, .steps = 9}));
};

bool same(const nn::StateDict& a, const nn::StateDict& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [name, tensor] : a.entries()) {
    const nn::StoredTensor* const other = b.find(name);
    if (other == nullptr ||
        !std::equal(tensor.bytes.begin(), tensor.bytes.end(), other->bytes.begin(), other->bytes.end()))
      return false;
  }
  return true;
}

} // namespace

TEST_CASE("training that stops in an epoch goes on bit for bit, on another device too", "[io][IO-2][IO-5]") {
  INFO("seed " << test_seed());
  const TemporaryFolder place{};
  manual_seed_all(test_seed());
  Run whole{0};
  whole.train(8);
  const RandomDraw next_draw = generator(Cpu{0}).state();
  {
    manual_seed_all(test_seed());
    Run first{0};
    io::CheckpointFolder folder{place.path};
    first.train(2);
    folder.save_in_background(2, first.save());
    first.loader.set_position(first.loader.position()); // the loop was left
    first.train(2);                                     // beside the save, which has copies
    CHECK(first.loader.position() == data::Position{1, 1});
    folder.save_in_background(4, first.save());
    first.loader.set_position(first.loader.position());
    first.train(1);
  }
  for (const int device : {0, 1}) {
    manual_seed_all(12345); // another process would have other random numbers
    Run second{device, {}}; // whose options are other ones
    const auto found = io::CheckpointFolder{place.path}.load_newest();
    REQUIRE(found.has_value());
    CHECK(found->step == 4);
    CHECK(second.restore(found->checkpoint).changed.size() == 5); // the rate is that of the schedule's fourth step
    CHECK(second.step.rule.options.beta2 == adam_options.beta2);
    CHECK(second.step.steps() == 4);
    CHECK(same(second.step.state_dict(), found->checkpoint.state("optimiser")));
    second.train(4);
    CHECK(same(nn::state_dict(second.model), nn::state_dict(whole.model)));
    CHECK(same(second.step.state_dict(), whole.step.state_dict()));
    CHECK(second.step.state(optim::loss_scale_state) > 1024);
    CHECK(generator(Cpu{device}).state() == next_draw);
    second.restore(found->checkpoint); // into a step that has states
    second.train(4);
    CHECK(same(nn::state_dict(second.model), nn::state_dict(whole.model)));
    CHECK(same(second.step.state_dict(), whole.step.state_dict()));
  }
}

TEST_CASE("a checkpoint that does not fit changes nothing and is named", "[io][IO-4][IO-5]") {
  Run run{0};
  run.train(2);
  const io::Checkpoint good = run.save();
  const nn::StateDict weights = nn::state_dict(run.model);
  const nn::StateDict rule = run.step.state_dict();
  const auto refusal = [&](const io::Checkpoint& checkpoint) {
    std::string message = "nothing";
    try {
      run.restore(checkpoint);
    } catch (const Error& error) {
      message = error.what();
    }
    CHECK(same(nn::state_dict(run.model), weights));
    CHECK(same(run.step.state_dict(), rule));
    return message;
  };
  const auto with = [&](const nn::StateDict& model, const nn::StateDict& optimiser) {
    io::Checkpoint checkpoint{};
    checkpoint.add("model", model);
    checkpoint.add("optimiser", optimiser);
    for (const char* name : {"random.device.seed", "random.device.step", "random.model.seed", "random.model.step"})
      checkpoint.set(name, good.integer(name));
    return checkpoint;
  };
  const auto changed = [](const nn::StateDict& state, const std::string& name, const Dims& shape) {
    nn::StateDict result{};
    for (const auto& [key, tensor] : state.entries())
      result.add(key, key == name ? nn::StoredTensor::make(tensor.dtype, shape).first : tensor);
    return result;
  };
  CHECK(refusal({}) == "checkpoint: there is no section 'model'; there are: none");
  CHECK(
      refusal(with(changed(weights, "hidden.weight", Dims(5, 16)), rule)) ==
      "load_state_dict: 'hidden.weight' is float32 of shape (16, 5) in the network, float32 of shape (5, 16) in the state dictionary");
  const std::string name = rule.entries()[4].first; // behind the four numbers of the loss scale
  CHECK(refusal(with(weights, changed(rule, name, Dims(3))))
            .find("load_state_dict: '" + name + "' is float32 of shape ") == 0);
  CHECK(refusal(with(weights, {})) == "load_state_dict: the state of a rule has no count of 'steps', or one below 0");
  nn::StateDict fewer{};
  CHECK(
      refusal(with(weights, changed(rule, "options/beta1", Dims(2)))) ==
      "load_state_dict: 'options/beta1' is float64 of shape () in the rule, float64 of shape (2,) in the state dictionary");
  fewer.add("steps", *rule.find("steps"));
  CHECK(refusal(with(weights, fewer)).find("load_state_dict: missing: loss_scale.scale, ") == 0);

  nn::StateDict older{}; // of before options were kept
  for (const auto& [key, tensor] : rule.entries())
    if (!key.starts_with(training::options_prefix)) older.add(key, tensor);
  Run plain{0, {.beta1 = 0.25}};
  const training::OptionsReport report = io::restore(with(weights, older), plain.model, plain.step);
  CHECK((report.loaded.empty() && report.kept.empty() && report.missing.size() == 9));
  CHECK((plain.step.rule.options.beta1 == 0.25 && plain.step.steps() == 2));

  Run damaged{0};
  damaged.restore(good);
  damaged.step.rule.options.beta1 = std::numeric_limits<double>::quiet_NaN();
  CHECK(refusal(damaged.save()) ==
        "load_state_dict: 'options/beta1' is nan in the state dictionary, has to be in [0, 1); "
        "training::without_options(state) leaves the options as they are");
  Run own{0, {.beta1 = 0.25}};
  const training::OptionsReport of_own = io::restore(damaged.save(), own.model, own.step, io::OptionsOf::program);
  CHECK((of_own.loaded.empty() && of_own.missing.empty() && of_own.kept.size() == 9));
  CHECK((own.step.rule.options.beta1 == 0.25 && own.step.steps() == 2));
  CHECK(same(nn::state_dict(own.model), weights));
  CHECK(same(training::without_options(own.step.state_dict()), training::without_options(rule)));

  Run fresh{0, {.beta1 = 0.25}}; // whose rule's states are made at its first step, and compared before
  const nn::StateDict fresh_weights = nn::state_dict(fresh.model);
  const io::Checkpoint other_shape = with(weights, changed(rule, name, Dims(3)));
  CHECK(message_of<ShapeError>([&] {
          io::restore(other_shape, fresh.model, fresh.step);
        }).starts_with("load_state_dict: '" + name + "' is float32 of shape "));
  CHECK(message_of<ValueError>([&] {
          io::restore(with(weights, fewer), fresh.model, fresh.step);
        }).starts_with("load_state_dict: missing: loss_scale.scale, "));
  CHECK((fresh.step.rule.options.beta1 == 0.25 && fresh.step.steps() == 0));
  CHECK(same(nn::state_dict(fresh.model), fresh_weights));
  CHECK(fresh.step.state_dict().size() == Run{0}.step.state_dict().size()); // no states that wait for the first step
  fresh.restore(good);
  fresh.train(3);
  Run gone_on{0};
  gone_on.restore(good);
  gone_on.train(3);
  CHECK(same(nn::state_dict(fresh.model), nn::state_dict(gone_on.model)));
  CHECK(same(fresh.step.state_dict(), gone_on.step.state_dict()));
}

TEST_CASE("a staged optimiser goes on where it stopped", "[io][IO-5]") {
  using Net = nn::Network<Regressor, Cpu>;
  const auto steps = [](Net& model, auto& optimiser, std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t i = first; i < last; ++i) {
      model.zero_grad();
      const auto loss =
          nn::mse(model.forward(random_rows<float, 2>(Cpu{0}, 5, i)), random_rows<float, 1>(Cpu{0}, 5, 100 + i));
      optimiser.backward(loss);
      optimiser.step();
    }
  };
  const optim::MomentumSgd rule{{.rate = 0.1, .momentum = 0.9}};
  Net whole{};
  Net first{};
  set_weights(first, weights_of(whole));
  training::Optimiser of_whole{whole, rule};
  training::Optimiser of_first{first, rule};
  steps(whole, of_whole, 0, 6);
  steps(first, of_first, 0, 3);
  const io::Checkpoint checkpoint = io::checkpoint_of(first, of_first);
  Net second{};
  training::Optimiser of_second{second, optim::MomentumSgd{{.rate = 0.5, .momentum = 0.25, .nesterov = true}}};
  io::restore(checkpoint, second, of_second);
  steps(second, of_second, 3, 6);
  CHECK(weights_of(second) == weights_of(whole));
  CHECK(same(of_second.state_dict(), of_whole.state_dict()));
}

TEST_CASE("a plateau goes on where it stopped, with the options of the checkpoint or of the program", "[io][IO-5]") {
  const optim::PlateauOptions options{.rate = 0.5,
                                      .larger_is_better = true,
                                      .factor = 0.25,
                                      .patience = 1,
                                      .threshold = 0.01,
                                      .cooldown = 2,
                                      .least = 1e-3,
                                      .epsilon = 1e-6};
  optim::Plateau plateau{options};
  plateau(2.0);
  plateau(1.0);
  io::Checkpoint checkpoint{};
  io::set_plateau(checkpoint, "plateau", plateau);
  const auto go_on = [&](optim::Plateau one, optim::Plateau other) {
    for (const double metric : {1.0, 1.5, 1.5, 2.5, 1.5, 1.0, 1.0, 1.0, 1.0}) CHECK(one(metric) == other(metric));
    return one.rate();
  };

  optim::Plateau other{{.rate = 0.5, .patience = 7}};
  const training::OptionsReport report = io::restore_plateau(checkpoint, "plateau", other);
  CHECK((report.loaded.size() == 8 && report.missing.empty()));
  REQUIRE(report.changed.size() == 7); // all but the rate
  CHECK(report.changed[0].name == "larger_is_better");
  CHECK((report.changed[0].before == "false" && report.changed[0].now == "true"));
  CHECK((report.changed[2].name == "patience" && report.changed[2].before == "7" && report.changed[2].now == "1"));
  CHECK((report.changed[5].name == "least" && report.changed[5].before == "0" && report.changed[5].now == "0.001"));
  CHECK(go_on(plateau, other) < 0.5);

  optim::Plateau own{{.rate = 0.5, .larger_is_better = true, .patience = 3}};
  CHECK(io::restore_plateau(checkpoint, "plateau", own, io::OptionsOf::program).kept.size() == 8);
  CHECK((own.options.patience == 3 && own.options.factor == 0.1 && own.state().bad == 1 && own.state().best == 2));

  io::Checkpoint older{}; // of before options were kept, but for one
  for (const char* name : {"plateau.rate", "plateau.best"}) older.set(name, checkpoint.number(name));
  for (const char* name : {"plateau.bad", "plateau.cooling", "plateau.has_best", "plateau.options.patience"})
    older.set(name, checkpoint.integer(name));
  optim::Plateau same_options{options};
  same_options.options.patience = 5;
  const training::OptionsReport partial = io::restore_plateau(older, "plateau", same_options);
  CHECK((partial.loaded == std::vector<std::string>{"patience"} && partial.missing.size() == 7));
  CHECK(go_on(plateau, same_options) < 0.5);

  const auto refusal = [&](const std::string& name, auto value) {
    io::Checkpoint damaged = checkpoint;
    damaged.set("plateau." + name, value);
    optim::Plateau kept{{.patience = 4}};
    const std::string message = message_of<ValueError>([&] { io::restore_plateau(damaged, "plateau", kept); });
    CHECK((kept.options.patience == 4 && kept.state().bad == 0 && kept.rate() == 0.1));
    return message;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(refusal("options.factor", 1.5) == "checkpoint: 'plateau.options.factor' is 1.5, has to be in [0, 1)");
  CHECK(refusal("options.epsilon", nan) == "checkpoint: 'plateau.options.epsilon' is nan, has to be at least 0");
  CHECK(refusal("options.cooldown", -1) == "checkpoint: 'plateau.options.cooldown' is -1, has to be at least 0");
  CHECK(refusal("rate", nan) == "checkpoint: 'plateau.rate' is nan, has to be at least 0");
  CHECK(refusal("bad", -3) == "checkpoint: 'plateau.bad' is -3, has to be at least 0");
  CHECK(refusal("options.patience", "two") == "checkpoint: 'plateau.options.patience' is 'ttwo', not an integer");
}
