"""CuPy: conjugate gradients on a small system; the residual goes to the host in each iteration, as a stopping rule needs it."""
import cupy


def setup():
    size = 300
    matrix = 4 * cupy.eye(size) - cupy.eye(size, k=1) - cupy.eye(size, k=-1)
    wanted = cupy.arange(size, dtype=cupy.float64) % 7
    state, residuals, solved = {}, [0.0], [0]

    def begin():
        state.update(x=cupy.zeros_like(wanted), r=wanted + solved[0] % 5, p=wanted + solved[0] % 5)
        state["rr"] = state["r"] @ state["r"]

    def step():
        p, r = state["p"], state["r"]
        q = matrix @ p
        alpha = state["rr"] / (p @ q)
        state["x"] += alpha * p
        r -= alpha * q
        rr = r @ r
        state["p"], state["rr"] = r + (rr / state["rr"]) * p, rr
        residuals[0] = residuals[0] / 2 + float(rr)
        if float(rr) < 1e-12:
            solved[0] += 1
            begin()

    begin()
    return step, cupy.cuda.Device().synchronize, lambda: [residuals, solved, cupy.asnumpy(state["x"])]
