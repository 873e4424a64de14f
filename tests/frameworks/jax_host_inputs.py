"""JAX: a jitted step that gets a new array of the host at each call, and whose answer is waited for."""
import jax
import jax.numpy as jnp
import numpy


def setup():
    key = jax.random.key(24)
    weights = [jax.random.normal(each, (128, 128)) / 11.3 for each in jax.random.split(key, 6)]
    inputs = numpy.random.default_rng(24).standard_normal((9, 4, 128), dtype=numpy.float32)
    folded, number = numpy.zeros((4, 128), numpy.int32), 0

    @jax.jit
    def forward(weights, x):
        for weight in weights:
            x = jnp.tanh(x @ weight)
        return x

    def step():
        nonlocal folded, number
        answer = numpy.asarray(forward(weights, inputs[number % 9]))
        number += 1
        folded = 31 * folded + answer.view(numpy.int32)

    return step, lambda: None, lambda: [folded]
