"""JAX: a jitted training step with an optimizer written by hand (momentum), called from a Python loop."""
import jax
import jax.numpy as jnp


def setup():
    keys = jax.random.split(jax.random.key(26), 8)
    weights = [jax.random.normal(key, (128, 128)) / 11.3 for key in keys[:6]]
    state = weights, [jnp.zeros_like(weight) for weight in weights]
    inputs, wanted = jax.random.normal(keys[6], (5, 32, 128)), jax.random.normal(keys[7], (5, 32, 128))
    losses, number = [], 0

    def loss_of(weights, x, y):
        for weight in weights:
            x = jnp.tanh(x @ weight)
        return jnp.mean((x - y) ** 2)

    @jax.jit
    def train(state, x, y):
        weights, speeds = state
        loss, slopes = jax.value_and_grad(loss_of)(weights, x, y)
        speeds = [0.9 * speed + slope for speed, slope in zip(speeds, slopes)]
        return ([weight - 0.01 * speed for weight, speed in zip(weights, speeds)], speeds), loss

    def step():
        nonlocal state, number
        state, loss = train(state, inputs[number % 5], wanted[number % 5])
        number += 1
        if number % 20 == 0:
            losses.append(float(loss))

    return step, lambda: jax.block_until_ready(state), lambda: [losses, *state[0]]
