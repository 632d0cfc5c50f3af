"""Functions of numbers that a driver knows, where one way through the kernel has their value and the other a constant: SwiftShader
took the constant for both."""

import re

import numpy as np
import pytest
from kp.emulate.launch import Emulation
from typekit import check_equal, launch

CALLS = """sin(z) cos(z) tan(z) asin(z) acos(z) atan(z) sinh(z) cosh(z) tanh(z) asinh(z) acosh(z+1) atanh(z) atan2(z,2.0)
exp(z) exp2(z) log(z) log2(z) log10(z) sqrt(z) isqrt(z) pow(z,0.3) z**0.5 z**-2 hypot(z,2.0) cbrt(z) erf(z)
floor(z) ceil(z) trunc(z) round(z) fract(z) abs(z) sign(z) copysign(z,-1.0) fmod(z,0.3) z%0.3 z//0.3
min(z,2.0) max(z,0.25) clamp(z,0.0,0.25) nmin(z,2.0) nclamp(z,0.0,0.25) mix(z,2.0,0.5) step(0.25,z) smoothstep(0.0,1.0,z)
fma(z,2.0,1.0) ldexp(z,2) sqrt(z)+sqrt(2.0) 1.0/z sqrt(vec2(z,2.0)).y length(vec2(z,1.0)) normalize(vec2(z,1.0)).x
determinant(mat2(1.0,z,3.0,4.0))""".split()

WAYS = {
    "text": "x[i] = f32({text}) if a[i] > 2.0 else 5.0",
    "variable": "z = 0.5\n    x[i] = f32({call}) if a[i] > 2.0 else 5.0",
    "branch": "z = 0.5\n    r = 5.0\n    if a[i] > 2.0:\n        r = f32({call})\n    x[i] = r",
    "loop": "z = 0.0\n    r = 5.0\n    for k in range(2):\n        if a[i] > 2.0:\n            r = f32({call})\n        z = 0.5\n    x[i] = r",
}


@pytest.mark.parametrize("way", WAYS)
def test_a_known_value_in_one_way_of_two(way):
    a = np.array([1.0, 3.0], np.float32)
    for call in CALLS:
        if way == "loop" and ("log" in call or "isqrt" in call or "/z" in call or "-2" in call):
            continue  # of 0 in its first round
        body = WAYS[way].format(call=call, text=re.sub(r"\bz\b", "0.5", call))
        text = f"def k(i: Index, a: Array[f32], x: Array[f32]):\n    {body}\n"
        got = launch(set(), text, a, np.zeros(2, np.float32))[1]
        wanted = np.zeros(2, np.float32)
        Emulation(text, "k").run(2, a.copy(), wanted)
        assert got[0] == 5, call
        check_equal(got, wanted, call, near=1e-3 + 2e-3 * np.abs(wanted))
