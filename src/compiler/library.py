# The functions of Python's math module for which devices have no instruction, in the kernel language itself. A kernel
# that uses one gets it as if it were a function of its own (check_library.c); the others cost nothing. Arguments are
# of one type: f32, f64 where builtins.def says FLOATS, or any integer. f16 comes here as f32, vectors by component.
#
# wide_of(x) is 1 for an f64, a constant. high_of(x) is the word of x that has its sign and exponent, a u32, low_of(x) the
# other word of an f64, or 0, and real_of(x, high, low) the number of the type of x that has these. They exist here alone.
#
# Nothing here trusts a device's exp, log or sin, which Vulkan lets be off by 2^-21 and more. The polynomials were fitted
# by weighted least squares (Lawson's iteration, towards the least largest relative error, in double precision to values
# of 40 digits), their coefficients rounded to f32 one by one from the lowest, the others fitted anew each time. Behind
# each is its largest relative error before rounding in the evaluation.


# ----------------------------------------------------------------------------------------------------------------------
# By the bits
# ----------------------------------------------------------------------------------------------------------------------


def is_minus(x):
    return high_of(x) >> 31 != 0


def copysign(x, y):
    return real_of(x, (high_of(x) & 0x7FFFFFFF) | (high_of(y) & 0x80000000), low_of(x))


def power_of_two(x, n):
    """2 ** n of the type of x, within its normal numbers."""
    if wide_of(x):
        return real_of(x, u32(n + 1023) << 20, u32(0))
    return real_of(x, u32(n + 127) << 23, u32(0))


def exponent_of(x):
    """Of a normal number, such that 2 ** exponent <= abs(x) < 2 ** (exponent + 1)."""
    if wide_of(x):
        return i32((high_of(x) >> 20) & 0x7FF) - 1023
    return i32((high_of(x) >> 23) & 0xFF) - 127


def least_exponent(x):
    return -1022 if wide_of(x) else -126


def digits_of(x):
    return 53 if wide_of(x) else 24


def frexp_exponent(x):
    if x == 0.0 or not isfinite(x):
        return 0
    e = exponent_of(x)
    if e < least_exponent(x):
        return exponent_of(x * power_of_two(x, digits_of(x))) - digits_of(x) + 1
    return e + 1


def frexp_mantissa(x):
    if x == 0.0 or not isfinite(x):
        return x
    y = x
    if exponent_of(x) < least_exponent(x):
        y = x * power_of_two(x, digits_of(x))
    if wide_of(x):
        return real_of(y, (high_of(y) & 0x800FFFFF) | 0x3FE00000, low_of(y))
    return real_of(y, (high_of(y) & 0x807FFFFF) | 0x3F000000, u32(0))


def ldexp(x, n):
    """One rounding at most: what becomes subnormal is made small in one last step."""
    if x == 0.0 or not isfinite(x):
        return x
    m, e = frexp_mantissa(x), frexp_exponent(x)
    least = least_exponent(x)
    total = min(max(n, -5000), 5000) + e
    if total > 2 - least:
        return copysign(x * 0.0 + math.inf, x)
    if total > least:
        return m * 2.0 * power_of_two(x, total - 1)
    if total < least - digits_of(x) - 1:
        return x * 0.0
    return m * power_of_two(x, least + 2) * power_of_two(x, total - least - 2)


def nextafter(x, y):
    if isnan(x) or isnan(y):
        return x + y
    high, low = high_of(x) & 0x7FFFFFFF, low_of(x)
    to_high, to_low = high_of(y) & 0x7FFFFFFF, low_of(y)
    same = is_minus(x) == is_minus(y)
    if high == to_high and low == to_low and (same or (high == 0 and low == 0)):
        return y
    if high == 0 and low == 0:
        return real_of(x, (high_of(y) & 0x80000000) | u32(1 - wide_of(x)), u32(wide_of(x)))
    away = same and (to_high > high or (to_high == high and to_low > low))
    if wide_of(x):
        if away:
            low += 1
            high += u32(1 if low == 0 else 0)
        else:
            high -= u32(1 if low == 0 else 0)
            low -= 1
    else:
        high = high + 1 if away else high - 1
    return real_of(x, (high_of(x) & 0x80000000) | high, low)


def ulp(x):
    if not isfinite(x):
        return abs(x)
    e = exponent_of(x) - digits_of(x) + 1
    if e >= least_exponent(x):
        return power_of_two(x, e)
    at = max(e - least_exponent(x) + digits_of(x) - 1, 0)
    if wide_of(x):
        return real_of(x, u32(1) << u32(at - 32), u32(0)) if at >= 32 else real_of(x, u32(0), u32(1) << u32(at))
    return real_of(x, u32(1) << u32(at), u32(0))


def ulp_16(x):
    """Of an f16, which is an f32 here."""
    return power_of_two(x, max(exponent_of(x), -14) - 10) if isfinite(x) else abs(x)


def nextafter_16(x, y):
    if isnan(x) or isnan(y):
        return x + y
    if x == y:
        return y
    if x == 0.0:
        return copysign(power_of_two(x, -24), y)
    if isinf(x):
        return copysign(power_of_two(x, 16) - 32.0, x)
    step = ulp_16(x)
    if (y > x) == (x > 0.0):
        return x + copysign(step, x)
    if abs(x) == power_of_two(x, exponent_of(x)) and exponent_of(x) > -14:
        step *= 0.5
    return copysign(x - copysign(step, x), x)


# ----------------------------------------------------------------------------------------------------------------------
# Remainders and distances
# ----------------------------------------------------------------------------------------------------------------------


def fmod(x, y):
    return copysign(abs(x) % abs(y), x)


def remainder(x, y):
    """Half of y is only told from the other numbers by the rests: a % (b + b) >= b where the quotient is odd."""
    a, b = abs(x), abs(y)
    rest = a % b
    other = b - rest
    if rest > other or (rest == other and a % (b + b) >= b):
        rest = -other
    return -rest if is_minus(x) else rest


def inverse_scale(m):
    """A power of two that brings m, the largest number of a sum of squares, near 1."""
    return power_of_two(m, min(max(-exponent_of(m), least_exponent(m) + 2), -least_exponent(m)))


def scale_back(root, scale):
    if wide_of(scale):
        return root * real_of(scale, 0x7FE00000 - high_of(scale), u32(0))
    return root * real_of(scale, 0x7F000000 - high_of(scale), u32(0))


def hypot_1(x):
    return abs(x)


def hypot_2(x, y):
    if isinf(x) or isinf(y):
        return math.inf
    s = inverse_scale(max(abs(x), abs(y)))
    a, b = x * s, y * s
    return scale_back(sqrt(a * a + b * b), s)


def hypot_3(x, y, z):
    if isinf(x) or isinf(y) or isinf(z):
        return math.inf
    s = inverse_scale(max(abs(x), abs(y), abs(z)))
    a, b, c = x * s, y * s, z * s
    return scale_back(sqrt(a * a + b * b + c * c), s)


def hypot_4(x, y, z, w):
    if isinf(x) or isinf(y) or isinf(z) or isinf(w):
        return math.inf
    s = inverse_scale(max(abs(x), abs(y), abs(z), abs(w)))
    a, b, c, d = x * s, y * s, z * s, w * s
    return scale_back(sqrt(a * a + b * b + c * c + d * d), s)


def dist_2(p, q):
    d = p - q
    return hypot_2(d.x, d.y)


def dist_3(p, q):
    d = p - q
    return hypot_3(d.x, d.y, d.z)


def dist_4(p, q):
    d = p - q
    return hypot_4(d.x, d.y, d.z, d.w)


def isclose(a, b, rel_tol, abs_tol):
    if a == b:
        return True
    if isinf(a) or isinf(b):
        return False
    apart = abs(a - b)
    return apart <= abs(rel_tol * a) or apart <= abs(rel_tol * b) or apart <= abs_tol


# ----------------------------------------------------------------------------------------------------------------------
# Exponentials and logarithms, of f32
# ----------------------------------------------------------------------------------------------------------------------


def expm1_near(r):
    """exp(r) - 1 for abs(r) < 0.3466. 2^-30"""
    p = ((0.0001955484 * r + 0.001393404) * r + 0.008333912) * r + 0.041666474
    return r + r * r * ((p * r + 0.16666664) * r + 0.5)


def exp_of(x, more):
    """exp(x + more), more small, for x from -120 to 90: exp(r) * 2 ** n, where n * 0.693359375 is exact."""
    n = round(x * 1.442695)
    r = (x - n * 0.693359375) + (n * 0.00021219444 + more)
    k = i32(n)
    half = k >> 1
    return (1.0 + expm1_near(r)) * power_of_two(x, half) * power_of_two(x, k - half)


def expm1(x):
    if x > 89.0:
        return math.inf
    if x < -18.0:
        return -1.0
    if isnan(x):
        return x
    n = round(x * 1.442695)
    r = (x - n * 0.693359375) + n * 0.00021219444
    p = expm1_near(r)
    if n == 0.0:
        return copysign(p, x)
    k = i32(n)
    if k > 24:
        return (p + 1.0) * power_of_two(x, k - 1) * 2.0
    s = power_of_two(x, k)
    return p * s + (s - 1.0)


def log1p_near(f):
    """log(1 + f) for -0.293 < f < 0.4143. 2^-30"""
    p = ((0.067341834 * f - 0.11662044) * f + 0.11886463) * f - 0.124080345
    p = (((p * f + 0.14220187) * f - 0.1666786) * f + 0.20002075) * f - 0.25000012
    return f - (0.5 * f * f - f * f * f * (p * f + 0.33333313))


def log_of(x, more):
    """log(x) + more for a finite x > 0, more small."""
    n = 0.0
    if exponent_of(x) < -126:
        x *= 16777216.0
        n = -24.0
    n += f32(exponent_of(x))
    m = real_of(x, (high_of(x) & 0x007FFFFF) | 0x3F800000, u32(0))
    if m > 1.4142135:
        m, n = 0.5 * m, n + 1.0
    return n * 0.693359375 + (log1p_near(m - 1.0) + (more - n * 0.00021219444))


def log1p(x):
    if -0.29 < x < 0.41:
        return x if x == 0.0 else log1p_near(x)
    if x <= -1.0:
        return -math.inf if x == -1.0 else math.nan
    if not isfinite(x):
        return x
    u = 1.0 + x
    return log_of(u, (x - (u - 1.0) if x < 1e8 else 0.0) / u)


def cbrt(x):
    """Newton's iteration, from a third of the exponent; the constant is two thirds of that of 1, less 0.0376 * 2 ** 23."""
    if x == 0.0 or not isfinite(x):
        return x
    a, up = abs(x), 1.0
    if exponent_of(x) < -126:
        a, up = a * 16777216.0, 0.00390625
    y = real_of(x, high_of(a) // 3 + 709920000, u32(0))
    for _ in range(3):
        y -= (y - a / (y * y)) * 0.33333334
    return copysign(y * up, x)


# ----------------------------------------------------------------------------------------------------------------------
# Error functions, of f32
# ----------------------------------------------------------------------------------------------------------------------


def erf_near(x):
    """For abs(x) <= 1. 2^-29"""
    z = x * x
    p = ((7.846108e-05 * z - 0.0008007878) * z + 0.005188074) * z - 0.026853692
    return x + x * (((p * z + 0.11283583) * z - 0.37612626) * z + 0.12837917)


def erfc_far(x):
    """For 0.5 <= x < 10.1: exp(-x * x) * p(2 / (2 + x)); the square of the upper half of x's digits is exact. 2^-29"""
    t = 2.0 / (2.0 + x)
    p = ((-0.07445433 * t + 0.35142434) * t - 0.6113287) * t + 0.40681416
    p = (((p * t - 0.108471334) * t + 0.23561163) * t + 0.23475777) * t + 0.283656
    p = (p * t + 0.2819788) * t + 3.7665072e-06
    high = real_of(x, high_of(x) & 0xFFFFF000, u32(0))
    return exp_of(-high * high, -(x - high) * (x + high)) * p


def erf(x):
    a = abs(x)
    if a < 1e-10:
        return x * 1.1283792
    if a <= 1.0:
        return erf_near(x)
    if a < 4.0:
        return copysign(1.0 - erfc_far(a), x)
    if isnan(x):
        return x
    return -1.0 if is_minus(x) else 1.0


def erfc(x):
    if x < 0.5:
        return 1.0 - erf(x)
    if x < 10.1:
        return erfc_far(x)
    return x if isnan(x) else 0.0


# ----------------------------------------------------------------------------------------------------------------------
# Gamma functions, of f32: by their values around 2, and what the next whole steps multiply
# ----------------------------------------------------------------------------------------------------------------------


def gamma(x):
    """Between 1.5 and 2.5 a polynomial of x - 2. 2^-29"""
    if not isfinite(x):
        return x if x > 0.0 else math.nan
    if x == 0.0:
        return copysign(x + math.inf, x)
    if x > 35.5:
        return math.inf
    if x < 0.0 and floor(x) == x:
        return math.nan
    if x < -58.0:
        return -0.0 if floor(x) % 2.0 == 1.0 else 0.0
    steps = 2.0 - round(x)
    u = x - round(x)
    p = ((-0.0011470491 * u + 0.002435345) * u - 0.0027818345) * u + 0.0110820085
    p = (((p * u - 0.00027636127) * u + 0.074255094) * u + 0.08157741) * u + 0.41184017
    p = (p * u + 0.42278433) * u + 1.0
    if steps <= 0.0:
        while steps < 0.0:
            steps += 1.0
            p *= x + (steps - 1.0)
        return p
    q = x + (steps - 1.0)
    while steps > 1.5:
        steps -= 1.0
        q *= x + (steps - 1.0)
    return p / q


def lgamma_near(u):
    """lgamma(2 + u) for abs(u) <= 0.5. 2^-25"""
    p = ((-0.0004553255 * u + 0.0010140047) * u - 0.0020989086) * u + 0.0049827937
    p = ((p * u - 0.0123848) * u + 0.03296581) * u - 0.10031729
    return u * (u + 1.0) * (p * u + 0.42278433)


def lgamma_of(x):
    """For x > 0: up to 8 by lgamma_near, then Stirling's series. One logarithm for all, or the code would be long."""
    if not isfinite(x):
        return x
    p, y = x, x
    if 1.5 <= x < 8.0:
        p = 1.0
        while y > 2.5:
            y -= 1.0
            p *= y
    elif x < 0.5:
        p = x * (1.0 + x)
    logarithm = log_of(p, 0.0)
    if x >= 8.0:
        z = 1.0 / x
        series = z * (0.083333336 - z * z * (0.0027777778 - 0.0007936508 * z * z))
        return (x - 0.5) * (logarithm - 1.0) + (0.4189385 + series)
    near = lgamma_near(y if y < 0.5 else y - 1.0 if y < 1.5 else y - 2.0)
    return near + logarithm if x >= 1.5 else near - logarithm


def sin_of_pi(x):
    """abs(sin(pi * x)). 2^-25"""
    r = x - round(x)
    z = r * r
    p = ((0.078247 * z - 0.5986354) * z + 2.5501451) * z - 5.167715
    return abs(r * (p * z + 3.1415927))


def lgamma(x):
    """Of what is negative by gamma(x) * gamma(-x) * x * sin(pi * x) == -pi."""
    a = abs(x)
    if not isfinite(x):
        return a
    if x <= 0.0 and floor(x) == x:
        return math.inf
    rest, q = lgamma_of(a), a
    if x > 0.0:
        return rest
    if a < 0.0001:
        rest = -0.5772157 * a
    else:
        q = a * sin_of_pi(x)
        rest -= 1.1447299
    return -log_of(q, 0.0) - rest


# ----------------------------------------------------------------------------------------------------------------------
# Whole numbers
# ----------------------------------------------------------------------------------------------------------------------


def magnitude(a):
    return abs(a)


def gcd(a, b):
    while b != 0:
        a, b = b, a % b
    return abs(a)


def lcm(a, b):
    if a == 0 or b == 0:
        return 0
    return abs(a // gcd(a, b)) * abs(b)


def factorial(n):
    """From 66! on all 64 bits are 0."""
    if n < 0:
        return 0
    result = n * 0 + 1
    k = min(n, 70)
    while k > 1:
        result *= k
        k -= 1
    return result


def perm(n, k):
    """Of 66 numbers in a row the product ends in 64 bits of 0."""
    if n < 0 or k < 0 or k > n:
        return 0
    result = n * 0 + 1
    left = min(k, 70)
    while left > 0:
        result *= n
        n -= 1
        left -= 1
    return result


def comb(n, k):
    """What stands in `result` is a binomial coefficient of smaller numbers; what divides is divided out before."""
    if n < 0 or k < 0 or k > n:
        return 0
    result, i = n * 0 + 1, n * 0
    last = min(k, n - k)
    while i < last and i < 40:
        i += 1
        common = gcd(result, i)
        result = result // common * ((n - last + i) // (i // common))
    return result
