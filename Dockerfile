# The README's two commands, as a user who is not root:
#   docker build -t harness . && docker run --rm harness
FROM python:3.12.12-slim-bookworm

RUN useradd --create-home --uid 1000 harness
USER harness
WORKDIR /home/harness/work
ENV PATH=/home/harness/venv/bin:$PATH \
    HARNESS_CACHE=/home/harness/cache

RUN python -m venv /home/harness/venv && mkdir -p /home/harness/cache /home/harness/work/runs
COPY --chown=harness:harness pyproject.toml README.md LICENSE ./
COPY --chown=harness:harness dev/constraints.txt dev/constraints.txt
COPY --chown=harness:harness configs configs
COPY --chown=harness:harness examples/plugin examples/plugin
COPY --chown=harness:harness harness harness
RUN pip install -q --no-cache-dir -c dev/constraints.txt -e .

ENTRYPOINT ["harness"]
CMD ["run", "quickstart"]
