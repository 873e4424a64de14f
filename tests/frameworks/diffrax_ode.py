"""diffrax: an equation is solved by steps that the solver chooses, jitted, and called from a Python loop."""
import diffrax
import jax
import jax.numpy as jnp


def setup():
    state = jax.random.normal(jax.random.key(28), (16,))

    def lorenz(_time, y, _arguments):
        return 10 * jnp.roll(y, -1) - y * jnp.roll(y, 1) - y + jnp.sin(y)

    @jax.jit
    def solve(y):
        solution = diffrax.diffeqsolve(diffrax.ODETerm(lorenz), diffrax.Tsit5(), t0=0.0, t1=0.1, dt0=0.02, y0=y,
                                       stepsize_controller=diffrax.PIDController(rtol=1e-4, atol=1e-6))
        return 3 * solution.ys[-1] / (1 + jnp.linalg.norm(solution.ys[-1]))

    def step():
        nonlocal state
        state = solve(state)

    return step, lambda: jax.block_until_ready(state), lambda: [state]
