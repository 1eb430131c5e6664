"""Tests of the Construct twin where the package construct is not installed."""

import subprocess
import sys


def test_missing_package_construct_is_said_with_what_to_install() -> None:
    program = "import sys; sys.modules['construct'] = None; import magicbyte_construct"
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1] == (
        "ModuleNotFoundError: the package construct is not installed; expected the extra construct: "
        "pip install 'magicbyte[construct]'"
    )
