# SPDX-License-Identifier: Apache-2.0
"""Training steps in JAX: the networks of bench/support/network.hpp under gradient descent, each step compiled whole. After some
steps the weights are compared with those of float64."""

import exact
import jax
import numpy as np
from functions import cross_entropy, linear
from jax import numpy as jnp

CHECKED_STEPS = 5


class Training:
    """Calls are steps: new weights take the memory of those before. A step gives all of what it computes."""

    def __init__(self, layers, x, target, rate, activation, loss):
        def loss_of(layers, x, target):
            for layer in layers[:-1]:
                x = activation(linear(x, *layer))
            return loss(linear(x, *layers[-1]), target)

        def step(layers, x, target):
            value, gradients = jax.value_and_grad(loss_of)(layers, x, target)
            return jax.tree.map(lambda weight, gradient: weight - rate * gradient, layers, gradients), value
        self.layers = jax.tree.map(jnp.array, layers)
        self.batch = jnp.asarray(x), jnp.asarray(target)
        self.step = jax.jit(step, donate_argnums=0)

    def __call__(self):
        self.layers, loss = self.step(self.layers, *self.batch)
        return self.layers, loss


def checked(x, target, sizes, rate, activation, loss, of_float64):
    """A training whose first steps are right. `of_float64` is the activation, its slope and the gradient of the loss."""
    random = np.random.default_rng(2)
    layers = []
    for inputs, outputs in zip(sizes, sizes[1:]):
        bound = inputs**-0.5
        layers.append(tuple(random.uniform(-bound, bound, shape).astype(np.float32) for shape in ((inputs, outputs), outputs)))
    run = Training(layers, x, target, rate, activation, loss)
    expected = [exact.doubles(*layer) for layer in layers]
    for _ in range(CHECKED_STEPS):
        run()
        expected = exact.perceptron_step(expected, x, target, rate, *of_float64)
    for found, layer in zip(run.layers, expected):
        for name, value, exact_value in zip(("weights", "bias"), found, layer):
            exact.require_close(value, exact_value, 1e-4, f"{name} after {CHECKED_STEPS} steps")
    return run


def tiny_step(rate):
    """2-8-8-1 with tanh and mean squares, four rows."""
    random = np.random.default_rng(1)
    return checked(random.random((4, 2), np.float32), random.random((4, 1), np.float32), (2, 8, 8, 1), rate, jnp.tanh,
                   lambda found, target: jnp.square(found - target).mean(),
                   (np.tanh, lambda value: 1 - value**2, exact.mean_squares_gradient))


def mlp_step(rows, rate):
    """784-256-256-10 with relu and cross entropy."""
    x = np.random.default_rng(1).random((rows, 784), np.float32) * 2 - 1
    return checked(x, np.arange(rows) * 7 % 10, (784, 256, 256, 10), rate, jax.nn.relu, cross_entropy,
                   (lambda x: np.maximum(x, 0), lambda value: value > 0, exact.cross_entropy_gradient))
