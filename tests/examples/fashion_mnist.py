#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the example of Fashion-MNIST as a newcomer would: `fashion_mnist.py program case`.

The pictures are made up here, 28 x 28 with one bright square for each class, so that a few steps suffice and no package has
to be installed. Each case is a function below; its name is the sentence of the CTest entry.
"""

import os
import random
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = ""  # set by main


def write_images(folder: Path, prefix: str, count: int) -> None:
    numbers = random.Random(count)
    images, labels = bytearray(), bytearray()
    for _ in range(count):
        label = numbers.randrange(10)
        image = bytearray(numbers.randrange(40) for _ in range(784))
        for row in range(4):
            start = (4 + 4 * (label // 5) + row) * 28 + 4 * (label % 5)
            image[start:start + 4] = bytes([255] * 4)
        images += image
        labels.append(label)
    (folder / f"{prefix}-images-idx3-ubyte").write_bytes(struct.pack(">4I", 0x803, count, 28, 28) + images)
    (folder / f"{prefix}-labels-idx1-ubyte").write_bytes(struct.pack(">2I", 0x801, count) + labels)


def run(*flags: str) -> subprocess.CompletedProcess:
    return subprocess.run([PROGRAM, *flags], text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env={**os.environ, "LC_ALL": "C"}, check=False)


def succeed(*flags: str) -> str:
    result = run(*flags)
    assert result.returncode == 0, f"{flags} ended with {result.returncode}\n{result.stderr}"
    return result.stdout


def refuse(status: int, sentence: str, *flags: str) -> None:
    """One line, no trace, nothing on the standard output."""
    result = run(*flags)
    assert result.returncode == status, f"{flags} ended with {result.returncode}, not {status}\n{result.stderr}"
    assert sentence in result.stderr, f"{flags} lacks: {sentence}\ngot: {result.stderr}"
    assert result.stderr.startswith("01_fashion_mnist: ") and result.stderr.count("\n") == 1, result.stderr
    assert result.stdout == "", result.stdout


def short(folder: Path, *flags: str) -> list[str]:
    """The flags of a short run on made-up pictures; 333 leave a smaller last batch."""
    write_images(folder, "train", 333)
    write_images(folder, "t10k", 100)
    return ["--data", str(folder), "--plot", str(folder / "loss.svg"), "--limit", "333", "--batch", "32", *flags]


def checksum(text: str) -> str:
    return re.search(r"^checksum +([0-9a-f]{16})", text, re.MULTILINE).group(1)


def needs(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"^\w+:\d+ needs (\d+) bytes", text, re.MULTILINE)]


def a_short_run_learns_and_reports(folder: Path) -> None:
    result = run(*short(folder, "--epochs", "4"))
    assert result.returncode == 0, result.stderr
    text = result.stdout
    accuracy = float(re.search(r"^test accuracy +([\d.]+)%", text, re.MULTILINE).group(1))
    assert accuracy > 80, f"made-up pictures are easy, got {accuracy}%"
    for part in ("actual \\ predicted", "9 Ankle boot", "precision", "device  allocated", "cpu:0", "cpu:1"):
        assert part in text, f"no {part} in\n{text}"
    assert re.search(r"100%  loss \d\.\d+  .*images/s", result.stderr), result.stderr
    plot = (folder / "loss.svg").read_text()
    assert plot.startswith("<svg") and "cross entropy" in plot and plot.rstrip().endswith("</svg>")


def the_same_seed_gives_the_same_bits(folder: Path) -> None:
    flags = short(folder, "--epochs", "2", "--dropout", "0.2")
    first = checksum(succeed(*flags, "--seed", "5"))
    assert first == checksum(succeed(*flags, "--seed", "5"))
    assert first != checksum(succeed(*flags, "--seed", "6"))


def meta_tells_the_memory_to_the_byte_without_running(folder: Path) -> None:
    flags = short(folder, "--epochs", "2")
    for devices in ("1", "2", "3"):
        planned = succeed(*flags, "--devices", devices, "--device", "meta")
        assert "accuracy" not in planned, planned
        assert len(needs(planned)) == int(devices), planned
        assert needs(planned) == needs(succeed(*flags, "--devices", devices)), planned


def one_device_and_three_learn_alike(folder: Path) -> None:
    flags = short(folder, "--epochs", "3")
    accuracies = [re.search(r"accuracy +([\d.]+)", succeed(*flags, "--devices", n)).group(1) for n in ("1", "3")]
    assert abs(float(accuracies[0]) - float(accuracies[1])) <= 2, accuracies


def what_was_typed_wrongly_is_told_in_a_sentence(_: Path) -> None:
    refuse(2, 'there is no flag "--epoch"; the flags are --device, --devices, --epochs', "--epoch", "3")
    refuse(2, 'there is no flag "10"', "10")
    refuse(2, '--epochs is a whole number from 1 to 10000, got "ten"', "--epochs", "ten")
    refuse(2, '--epochs is a whole number from 1 to 10000, got "0"', "--epochs=0")
    refuse(2, '--batch is a whole number from 1 to 60000, got "12x"', "--batch", "12x")
    refuse(2, '--rate is a number from 0 to 100, got "-1"', "--rate", "-1")
    refuse(2, '--dropout is a number from 0 to 1, got "1.5"', "--dropout", "1.5")
    refuse(2, '--dropout is a number from 0 to 1, got "nan"', "--dropout", "nan")
    refuse(2, '--seed is a whole number from 0 to', "--seed", "99999999999999999999")
    refuse(2, "--devices needs a value: a whole number from 1 to 64", "--devices")
    refuse(2, '"gpu" is not a device; the kinds are "cpu", "meta"', "--device", "gpu")
    refuse(2, '"cuda" needs CUDA, which this program was built without', "--device", "cuda")
    refuse(2, "there is no cpu:400", "--device", "cpu:400")
    refuse(2, "--device and --devices: ", "--device", "cpu:63", "--devices", "64")
    refuse(2, '--data is a text, got ""', "--data", "")
    refuse(2, '--limit is a whole number from 1 to 60000, got "0"', "--limit", "0")
    refuse(2, "--plot: there is no folder /nowhere", "--plot", "/nowhere/loss.svg")


def missing_data_are_told_with_the_remedy(folder: Path) -> None:
    remedy = "train-images-idx3-ubyte.gz is missing; give a folder with the four IDX files"
    refuse(1, remedy, "--data", str(folder / "nowhere"))
    refuse(1, "apt-get install dataset-fashion-mnist", "--data", str(folder / "nowhere"))
    (folder / "empty").mkdir()
    refuse(1, remedy, "--data", str(folder / "empty"))
    refuse(1, "apt-get install dataset-fashion-mnist", "--data", str(folder / "empty"))
    (folder / "file").write_text("not a folder")
    refuse(1, remedy, "--data", str(folder / "file"))
    flags = short(folder)
    (folder / "t10k-labels-idx1-ubyte").write_bytes(b"not an IDX file")
    refuse(1, "t10k-labels-idx1-ubyte", *flags)


def help_names_every_flag(_: Path) -> None:
    text = succeed("--help")
    for flag in ("device", "devices", "epochs", "batch", "rate", "dropout", "seed", "data", "plot", "limit"):
        assert f"  --{flag} " in text, text
    assert text == succeed("-h") == succeed("--epochs", "3", "--help")


def main() -> int:
    global PROGRAM
    PROGRAM = sys.argv[1]
    case = globals()[sys.argv[2].replace(" ", "_")]
    with tempfile.TemporaryDirectory() as folder:
        try:
            case(Path(folder))
        except AssertionError as fault:
            print(fault)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
