"""Every limit and time-out of the product, in one place; the hash of this record stands in run.json."""

import hashlib

from pydantic import Field

from records.base import Record

MIB = 1024 * 1024


class Limits(Record):
    """Defaults of architecture section 3; sizes in bytes, times in seconds."""

    pids: int = Field(default=512, description="processes and threads in the sandbox")
    memory_bytes: int = Field(default=2048 * MIB, description="memory of the sandbox, no swap on top")
    cpus: float = Field(default=2.0, description="CPU quota of the sandbox")
    workspace_bytes: int = Field(default=1024 * MIB, description="size of the workspace file system")
    workspace_inodes: int = Field(default=60_000, description="files and folders in the workspace")
    tmp_bytes: int = Field(default=256 * MIB, description="size of /tmp and of the home folder, each")
    stream_bytes: int = Field(default=32 * MIB, description="stdout and stderr kept on disk, each, head and tail")
    reply_chars: int = Field(default=100_000, description="characters of one agent message")
    deliver_bytes: int = Field(default=512 * MIB, description="bytes copied out of /workspace/deliver per turn")
    deliver_files: int = Field(default=5_000, description="files copied out of /workspace/deliver per turn")
    stop_grace_s: float = Field(default=5.0, description="from SIGINT to SIGKILL at the end of a turn")
    sweep_s: float = Field(default=2.0, description="time for SIGKILL of all agent processes to be seen done")
    container_slack_s: float = Field(
        default=900.0, description="on top of turns x turn limit before PID 1 ends by itself"
    )
    evaluator_memory_bytes: int = Field(default=1536 * MIB, description="memory of an evaluator container")
    evaluator_s: float = Field(default=600.0, description="time for one evaluator container")
    judge_calls: int = Field(default=4, description="calls of one grading to its model judge at a time")
    rerun_s: float = Field(default=120.0, description="time for the delivered code when it is run again")
    rerun_memory_bytes: int = Field(default=2048 * MIB, description="memory of that container, no swap on top")
    rerun_cpus: float = Field(default=2.0, description="CPU quota of that container")
    rerun_output_bytes: int = Field(default=MIB // 16, description="stdout and stderr kept of it, each, head and tail")
    log_bytes: int = Field(default=1 * MIB, description="container log kept by the engine")
    min_free_disk_bytes: int = Field(default=3 * 1024 * MIB, description="launch refuses below this much free disk")
    view_files: int = Field(default=20, description="delivered files the simulated user reads in a turn")
    view_file_chars: int = Field(default=8_000, description="characters of one file the user reads")
    view_total_chars: int = Field(default=12_000, description="characters of all files the user reads")
    view_messages: int = Field(
        default=6, description="latest messages that user `llm` reads whole; earlier ones summed up"
    )
    view_message_chars: int = Field(default=20_000, description="characters of one message that user `llm` reads")
    max_regenerations: int = Field(default=6, description="tries for a valid user decision")
    max_voids: int = Field(default=2, description="void attempts per (agent, task, repeat)")
    gateway_start_s: float = Field(default=30.0, description="time for the gateway to answer")
    model_start_s: float = Field(default=30.0, description="time for the sealed-side model process to answer")
    model_call_s: float = Field(default=180.0, description="one try of a call to the sealed-side model")
    model_total_s: float = Field(default=900.0, description="such a call in all, retries and waits included")
    model_retries: int = Field(default=6, description="tries after the first on 408, 409, 429, 5xx and no connection")
    upstream_s: float = Field(default=30.0, description="one FMP request")
    upstream_tries: int = Field(default=4, description="FMP tries on 429 and 5xx")
    upstream_body_bytes: int = Field(default=64 * MIB, description="one FMP response")
    upstream_lasting_calls: int = Field(default=2, description="FMP calls failing in a row that count as lasting")
    web_connect_s: float = Field(default=10.0, description="resolving and connecting to a web host")
    web_idle_s: float = Field(default=3600.0, description="silence on a web connection; longer than a freeze")
    web_response_bytes: int = Field(default=512 * MIB, description="one web response, or one way of a CONNECT tunnel")
    web_kept_bytes: int = Field(default=8 * MIB, description="a web body larger than this is hashed but not kept")

    def digest(self) -> str:
        """Return the SHA-256 of the limits in force, hexadecimal."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()


DEFAULT_LIMITS = Limits()
