# SPDX-License-Identifier: Apache-2.0
"""The workloads as users of JAX write them, for bench/jax/peers.py and bench/jax/gpu_peers.py: whole functions are compiled."""

import jax
from jax import lax
from jax import numpy as jnp


def chain(a, b, c, d):
    return jnp.tanh(a * b + c) * d - 0.5 * a


def softmax(x):
    return jax.nn.softmax(x, axis=-1)


def layer_norm(x, scale, shift):
    return jax.nn.standardize(x, axis=-1, epsilon=1e-5) * scale + shift


def bias_gelu(x, shift):
    return jax.nn.gelu(x + shift, approximate=False)


def cross_entropy(logits, labels):
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits, axis=-1), labels[:, None], axis=-1)
    return -chosen.mean()


def matmul_bias_gelu(a, b, bias):
    return jax.nn.gelu(a @ b + bias, approximate=False)


def linear(x, weights, bias):
    return jnp.matmul(x, weights, precision="highest") + bias  # float32 on GPUs as well, as the others have it


def tanh_network(x, first, second, third):
    return jnp.tanh(jnp.tanh(x @ first) @ second) @ third


def loss_of_one(weights, image, label):
    """Of one example, through two layers without biases."""
    return cross_entropy((jax.nn.relu(image @ weights[0]) @ weights[1])[None], label[None])


def dense_layer(x, weights, bias):
    return jax.nn.relu(linear(x, weights, bias))


def convolution(x, weights, order):
    """Of images with channels last or not, by the order's name: NHWC or NCHW."""
    kernel = "HWIO" if order == "NHWC" else "OIHW"
    return lax.conv_general_dilated(x, weights, (1, 1), "SAME", dimension_numbers=(order, kernel, order))


def convolution_with_gradients(x, weights, dy, order):
    y, pull_back = jax.vjp(lambda x, weights: convolution(x, weights, order), x, weights)
    return y, *pull_back(dy)  # y as well, or it would not be computed
