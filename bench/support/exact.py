# SPDX-License-Identifier: Apache-2.0
"""The workloads in float64 by NumPy, as their formulas stand in a book: what peers in Python are compared with before they are
timed. Arrays of images lie with the channels last, weights as they stand behind a row: inputs x outputs."""

import math
import sys

import numpy as np

erf = np.vectorize(math.erf, otypes=[np.float64])


def require_close(found, expected, tolerance: float, what: str):
    """Ends the program unless |found - expected| <= tolerance max(1, |expected|) everywhere."""
    found = np.asarray(found, np.float64)
    if found.shape != np.shape(expected):
        sys.exit(f"{what}: the shape is {found.shape} instead of {np.shape(expected)}")
    error = np.max(np.abs(found - expected) / np.maximum(1, np.abs(expected)))
    if not error <= tolerance:
        sys.exit(f"{what}: the result is wrong by {error}")


def doubles(*arrays):
    return [np.asarray(array, np.float64) for array in arrays]


def chain(*inputs):
    a, b, c, d = doubles(*inputs)
    return np.tanh(a * b + c) * d - 0.5 * a


def softmax(x):
    exponentials = np.exp(np.float64(x) - np.max(x, -1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def layer_norm(x, scale, shift):
    x, scale, shift = doubles(x, scale, shift)
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * scale + shift


def gelu(x):
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


def bias_gelu(x, shift):
    return gelu(np.float64(x) + shift)


def cross_entropy_gradient(logits, labels):
    """Of the mean over the rows, by the logits."""
    gradient = softmax(logits)
    gradient[np.arange(len(labels)), labels] -= 1
    return gradient / len(labels)


def jacobian(x, layers):
    """Of a network with tanh between its layers, by its input: outputs x inputs."""
    value, path = np.float64(x), np.eye(len(x))
    for weights in layers[:-1]:
        value = np.tanh(value @ weights)
        path = path @ weights * (1 - value * value)
    return (path @ layers[-1]).T


def gradients_of_examples(first, second, images, labels):
    """Of the cross entropy of each example through two layers with relu between them, by both."""
    first, second, images = doubles(first, second, images)
    hidden = np.maximum(images @ first, 0)
    slopes = cross_entropy_gradient(hidden @ second, labels) * len(labels)
    back = (slopes @ second.T) * (hidden > 0)
    return images[:, :, None] * back[:, None, :], hidden[:, :, None] * slopes[:, None, :]


def mean_squares_gradient(found, target):
    return 2 * (found - target) / found.size


def perceptron_step(layers, x, target, rate: float, activation, slope, loss_gradient):
    """The layers, pairs of weights and bias, after a step of gradient descent. The slope is that at an activation's value."""
    values = [np.float64(x)]
    for weights, bias in layers[:-1]:
        values.append(activation(values[-1] @ weights + bias))
    weights, bias = layers[-1]
    gradient = loss_gradient(values[-1] @ weights + bias, target)
    after = []
    for (weights, bias), value in zip(reversed(layers), reversed(values)):
        after.insert(0, (weights - rate * value.T @ gradient, bias - rate * gradient.sum(0)))
        gradient = gradient @ weights.T * slope(value)
    return after


def met_by(x, kernel: int):
    """For each offset within a kernel the pixels that meet it; around the image there are zeros."""
    edge, (_, height, width, _) = kernel // 2, x.shape
    padded = np.pad(x, ((0, 0), (edge, edge), (edge, edge), (0, 0)))
    for i, j in np.ndindex(kernel, kernel):
        yield (i, j), padded[:, i:i + height, j:j + width]


def convolution(x, weights):
    """Weights are height x width x inputs x outputs."""
    x, weights = doubles(x, weights)
    return sum(pixels @ weights[at] for at, pixels in met_by(x, len(weights)))


def convolution_gradients(x, weights, dy):
    x, weights, dy = doubles(x, weights, dy)
    by_weights = np.empty_like(weights)
    for at, pixels in met_by(x, len(weights)):
        by_weights[at] = np.tensordot(pixels, dy, ((0, 1, 2), (0, 1, 2)))
    return convolution(dy, weights[::-1, ::-1].swapaxes(2, 3)), by_weights
