# docker build --build-arg TORCH_INDEX=... -t poolscope . && docker run -p 7860:7860 poolscope
FROM python:3.12-slim

RUN useradd --create-home --uid 1000 poolscope
WORKDIR /home/poolscope/app

# The index of PyTorch's wheels for CPUs, whose "+cpu" is the highest of equal versions; without it torch comes with
# the libraries of a GPU.
ARG TORCH_INDEX=
COPY requirements.txt ./
RUN pip install --no-cache-dir ${TORCH_INDEX:+--extra-index-url "$TORCH_INDEX"} -r requirements.txt

# They belong to root: the app writes nothing here.
COPY app.py LICENSE ./
COPY components components
COPY assets assets

USER poolscope
RUN mkdir -p /home/poolscope/.cache/huggingface
ENV GRADIO_SERVER_NAME=0.0.0.0 \
    GRADIO_SERVER_PORT=7860 \
    HF_HOME=/home/poolscope/.cache/huggingface \
    PYTHONDONTWRITEBYTECODE=1
EXPOSE 7860
VOLUME /home/poolscope/.cache/huggingface

HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import http.client, os; c = http.client.HTTPConnection('127.0.0.1', int(os.environ['GRADIO_SERVER_PORT']), timeout=4); c.request('GET', '/health'); raise SystemExit(c.getresponse().status != 200)"]

# No shell in between: SIGTERM reaches the app.
CMD ["python", "app.py"]
