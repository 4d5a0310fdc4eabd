"""What *we* broke, as exceptions. What the agent did is data (`records.session.EndReason`), never an exception.

EvalError
├── UsageError            bad task file, flag or configuration            exit 2
├── PrerequisiteError     Docker absent or too old, image not built       exit 2
├── SandboxError          our container machinery                         retry, void
│   ├── StartError        the container did not come up
│   ├── LostError         the container went away under us
│   └── TransferError     a copy in or out failed on our side
├── AdapterError          the agent could not be driven                   retry, void
│   ├── LaunchError       before the first prompt was accepted
│   └── ProviderError     an upstream failed, witnessed by the gateway
├── SimulatorError        no valid user decision                          retry, void
├── ModelError            the sealed-side model did not answer            retry, void
├── GeneratorError        a task could not be made                        void
└── GradingError          the evaluator broke; the capture is kept        ungraded, can be run again

`retry` and `void` are read in one place (`runner.engines`). An exception outside this tree is void, never scored.
"""

from typing import ClassVar


class EvalError(Exception):
    """A fault of ours, said as thing, expected, found and next step."""

    retry: ClassVar[bool] = False
    void: ClassVar[bool] = True
    exit_code: ClassVar[int] = 1


class UsageError(EvalError):
    """A task file, flag or configuration is wrong; nothing was started."""

    exit_code: ClassVar[int] = 2


class PrerequisiteError(EvalError):
    """The machine lacks something (engine, image, disk); the sentence says how to mend it."""

    exit_code: ClassVar[int] = 2


class SandboxError(EvalError):
    """Our container machinery failed. Typical causes: engine restart, full disk, kernel limits."""

    retry: ClassVar[bool] = True

    def __init__(self, message: str, *, container_id: str | None = None) -> None:
        """Keep the container's id beside the sentence."""
        super().__init__(message)
        self.container_id = container_id


class StartError(SandboxError):
    """The container could not be created or started."""


class LostError(SandboxError):
    """The container went away or stopped answering while a session held it; its memory is gone, captured turns survive."""

    def __init__(self, message: str, *, container_id: str | None = None, agent_caused: bool = False) -> None:
        """Keep whether the box ended by what ran in it; a session then ends as `agent_error` and is not void."""
        super().__init__(message, container_id=container_id)
        self.agent_caused = agent_caused


class TransferError(SandboxError):
    """Copying files out of the container failed on our side."""


class AdapterError(EvalError):
    """The agent could not be driven for a reason witnessed outside its box."""

    retry: ClassVar[bool] = True


class LaunchError(AdapterError):
    """The agent program did not accept its first prompt."""


class ProviderError(AdapterError):
    """An upstream (model or data service) failed for long, as the gateway's log shows."""


class SimulatorError(EvalError):
    """The simulated user made no valid decision within the allowed regenerations."""

    retry: ClassVar[bool] = True


class ModelError(EvalError):
    """The model behind the simulated user or the judge did not answer within its retries."""

    retry: ClassVar[bool] = True


class GeneratorError(EvalError):
    """A task could not be drawn or its frozen content no longer matches its hash."""


class GradingError(EvalError):
    """The evaluator itself failed; the capture is untouched and can be graded again."""

    void: ClassVar[bool] = False
