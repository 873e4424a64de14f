"""JAX: a small jitted step, called from a Python loop that never waits."""
import jax
import jax.numpy as jnp


def setup():
    state = {"u": jax.random.normal(jax.random.key(25), (64, 64)), "number": jnp.int32(0)}

    @jax.jit
    def advance(state):
        u = state["u"]
        around = sum(jnp.roll(u, shift, axis) for shift in (1, -1) for axis in (0, 1))
        u = u + 0.2 * (around - 4 * u) + 0.01 * jnp.sin(0.1 * state["number"])
        return {"u": u / (1e-3 + jnp.sqrt(jnp.mean(u * u))), "number": state["number"] + 1}

    def step():
        nonlocal state
        state = advance(state)

    return step, lambda: jax.block_until_ready(state), lambda: [state["u"], state["number"]]
