"""flax and optax: a training step of a small network with layer normalization and Adam."""
import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax.training.train_state import TrainState


class Network(nn.Module):
    @nn.compact
    def __call__(self, x):
        for _ in range(4):
            x = nn.gelu(nn.LayerNorm()(nn.Dense(128)(x)))
        return nn.Dense(10)(x)


def setup():
    keys = jax.random.split(jax.random.key(27), 3)
    inputs, wanted = jax.random.normal(keys[0], (6, 64, 32)), jax.random.randint(keys[1], (6, 64), 0, 10)
    network = Network()
    state = TrainState.create(apply_fn=network.apply, params=network.init(keys[2], inputs[0]), tx=optax.adam(1e-4))
    number = 0

    @jax.jit
    def train(state, x, y):
        def loss_of(params):
            return optax.softmax_cross_entropy_with_integer_labels(state.apply_fn(params, x), y).mean()
        return state.apply_gradients(grads=jax.grad(loss_of)(state.params))

    def step():
        nonlocal state, number
        state = train(state, inputs[number % 6], wanted[number % 6])
        number += 1

    return step, lambda: jax.block_until_ready(state.params), lambda: jax.tree.leaves(state.params)
