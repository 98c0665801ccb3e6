"""The files with which Gradescope, GitHub and Coursera install the course and grade one notebook.

They run in the platforms' Linux images only. The platforms' own pages are named in `formats`.
"""

from __future__ import annotations

from autograder.classroom.setup.wheel import TORCH_CPU

_SETUP = """\
#!/usr/bin/env bash
# Gradescope runs this once, when it builds the image.
TORCH_INDEX={torch}
PYTHON='>=3.11,<3.14'  # the image's own if it fits, otherwise uv downloads one
set -euo pipefail
apt-get update && apt-get install -y python3-venv
python3 -m venv /opt/uv && /opt/uv/bin/pip install uv
export UV_PYTHON_INSTALL_DIR=/opt/python
/opt/uv/bin/uv venv --python "$PYTHON" /opt/fxcourse
cd /autograder/source
/opt/uv/bin/uv pip install --python /opt/fxcourse --extra-index-url "$TORCH_INDEX" \\
  --index-strategy unsafe-best-match --requirement requirements.txt ./{wheel}
"""

_RUN = """\
#!/usr/bin/env bash
cd /autograder
exec /opt/fxcourse/bin/fxcourse grade-one submission --bundle source/bundle.json \\
  --metadata submission_metadata.json --format gradescope --out results/results.json
"""

_WORKFLOW = """\
name: Grade
on: [push, workflow_dispatch]
permissions:
  contents: read
jobs:
  grade:
    runs-on: ubuntu-latest
    timeout-minutes: 30
    steps:
      - uses: actions/checkout@v4
      - id: python
        uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - id: cache
        uses: actions/cache@v4
        with:
          path: ~/fxcourse
          key: fxcourse-${{{{ steps.python.outputs.python-version }}}}-{wheel}
      - if: steps.cache.outputs.cache-hit != 'true'
        run: |
          python -m venv ~/fxcourse
          ~/fxcourse/bin/python -m pip install --extra-index-url {torch} \\
            --requirement .fxcourse/requirements.txt .fxcourse/{wheel}
      # Ubuntu forbids namespaces by default. The sandbox needs them, or Linux 6.12.
      - run: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0
      - run: |
          ~/fxcourse/bin/fxcourse grade-one . --bundle .fxcourse/bundle.json --format github \\
            --student "$GITHUB_REPOSITORY" >> "$GITHUB_STEP_SUMMARY"
"""

_DOCKERFILE = """\
FROM python:3.12-slim
ARG TORCH_INDEX={torch}
COPY bundle.json requirements.txt {wheel} /grader/
RUN pip install --no-cache-dir --extra-index-url "$TORCH_INDEX" \\
    --requirement /grader/requirements.txt /grader/{wheel} && chmod -R a+rX /grader
# Coursera runs it as an ordinary user, who can write into /shared and /tmp.
ENV HOME=/tmp
ENTRYPOINT ["fxcourse", "grade-one", "/shared/submission", "--bundle", "/grader/bundle.json", \\
  "--format", "coursera", "--out", "/shared/feedback.json"]
"""


def gradescope(wheel: str) -> dict[str, str]:
    """The two scripts of an autograder."""
    return {"setup.sh": _SETUP.format(wheel=wheel, torch=TORCH_CPU), "run_autograder": _RUN}


def github(wheel: str) -> dict[str, str]:
    """A workflow that shows the result as the summary of its job."""
    text = _WORKFLOW.format(wheel=wheel, torch=TORCH_CPU)
    return {".github/workflows/grade.yml": text}


def coursera(wheel: str) -> dict[str, str]:
    """The image of a custom grader."""
    return {"Dockerfile": _DOCKERFILE.format(wheel=wheel, torch=TORCH_CPU)}
