// SPDX-License-Identifier: Apache-2.0
//
// Two networks against each other, in stages: a generator turns noise into points of a ring, a discriminator tells them from
// real ones (Goodfellow et al., 2014). Each has a rule of its own, and the generator's gradients go through the discriminator.
//
// prints: the generator draws the ring: yes

#include <twill/twill.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>

using namespace twill;

struct Generator {
  static constexpr auto forward(Input<Dim<"batch">, 4> noise) {
    return nn::linear(leaky_relu(nn::linear(noise, 48, "hidden"), 0.2), 2, "point");
  }
};

struct Discriminator {
  static constexpr auto forward(Input<Dim<"batch">, 2> point) {
    const auto hidden = leaky_relu(nn::linear(point, 48, "first"), 0.2);
    return nn::linear(leaky_relu(nn::linear(hidden, 48, "second"), 0.2), 1, "logit");
  }
};

constexpr std::int64_t batch_rows = 128;

/// Points at a distance of about 2 from the origin.
auto points_of_ring() {
  const auto angle = uniform<float, Shape<dyn>>(0, 6.2831853, Dims(batch_rows));
  const auto radius = normal<float, Shape<dyn>>(2, 0.1, Dims(batch_rows));
  return stack<1>(radius * cos(angle), radius * sin(angle));
}

int main() {
  manual_seed_all(1);
  nn::Network<Generator> generator{};
  nn::Network<Discriminator> discriminator{};
  training::Optimiser of_generator{generator, optim::Adam{{.rate = 0.002, .beta1 = 0.5}}};
  training::Optimiser of_discriminator{discriminator, optim::Adam{{.rate = 0.002, .beta1 = 0.5}}};
  const auto real_label = ones<float, Shape<dyn, 1>>(Dims(batch_rows, 1));
  const auto fake_label = zeros<float, Shape<dyn, 1>>(Dims(batch_rows, 1));
  for (int i = 0; i < 3000; ++i) {
    // region: loop
    const auto noise = randn<float, Shape<dyn, 4>>(Dims(batch_rows, 4));
    discriminator.zero_grad();
    const auto of_real = nn::bce_with_logits(discriminator.forward(points_of_ring()), real_label);
    const auto of_fake =
        nn::bce_with_logits(discriminator.forward(generator.infer(noise)), fake_label); // infer: detached
    const auto discriminator_loss = 0.5 * of_real + 0.5 * of_fake;
    discriminator_loss.backward();
    of_discriminator.step();

    generator.zero_grad();
    const auto generator_loss = nn::bce_with_logits(discriminator.forward(generator.forward(noise)), real_label);
    generator_loss.backward(); // through both networks; the discriminator's share is dropped by its next zero_grad
    of_generator.step();
    // end region
    if (i % 1000 == 0) std::cout << "losses: " << discriminator_loss.item() << " and " << generator_loss.item() << '\n';
  }
  const Tensor drawn = generator.infer(randn<float, Shape<dyn, 4>>(Dims(2000, 4)));
  const Tensor radius = norm<1>(drawn);
  const double mean_radius = Tensor{mean(radius)}.item();
  const double spread = Tensor{stddev(radius)}.item();
  double least_quadrant = 1; // the share of the points in the emptiest quarter of the plane
  for (const float x_sign : {-1.0F, 1.0F})
    for (const float y_sign : {-1.0F, 1.0F}) {
      const Tensor share = mean(cast<float>((drawn(all, 0) * x_sign > 0) & (drawn(all, 1) * y_sign > 0)));
      least_quadrant = std::min(least_quadrant, static_cast<double>(share.item()));
    }
  std::cout << "distance from the origin: " << mean_radius << " +- " << spread << ", in each quadrant "
            << least_quadrant << " or more\n";
  const bool is_ring = std::abs(mean_radius - 2) < 0.3 && spread < 0.5 && least_quadrant > 0.05;
  std::cout << "the generator draws the ring: " << (is_ring ? "yes" : "no") << '\n';
}
