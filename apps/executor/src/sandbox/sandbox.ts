import type { Readable } from 'node:stream';

/** Where commands find programs, unless their environment says otherwise. */
export const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** A folder or file of the executor that a command sees. */
export type SandboxMount = {
  /** The absolute path on the executor. */
  readonly source: string;
  /** The absolute path that the command sees, such as `/work`. Without a sandbox, the command sees `source`. */
  readonly target: string;
  readonly writable: boolean;
};

export type SandboxCommand = {
  /** The program and its arguments. Paths are those that the command sees (`locate`). */
  readonly argv: readonly [program: string, ...parameters: string[]];
  /** An absolute path that the command sees. */
  readonly workingDirectory: string;
  /** The whole environment. A sandbox adds the variables of its proxy, and `HOME` and `PATH` if they are missing. */
  readonly environment: Readonly<Record<string, string>>;
  /** The disk limit counts the writable ones. */
  readonly mounts: readonly SandboxMount[];
  /** The command is killed after this time. */
  readonly seconds: number;
  /** Whether the command reaches no network, not even the server. */
  readonly isOffline?: boolean;
};

/** What a run may use. `docs/how-to/isolate-runs.md` says which limit holds on which machine. */
export type SandboxLimits = {
  /** Of all processes together. */
  readonly memoryBytes: number;
  /** Processes and threads. */
  readonly processes: number;
  /** Of all writable mounts together. */
  readonly diskBytes: number;
  /** What must stay free on the file system of the writable mounts. The runs of all executors share it. */
  readonly freeBytes: number;
  /** Of `/tmp`, `/var/tmp`, `/dev/shm` and the home folder, each. They are in memory. */
  readonly temporaryBytes: number;
  /** Processors, such as 1.5. Only control groups limit them. */
  readonly processors: number;
};

/** The limit that ended a command. `space`: the file system has too little free space. */
export type ExceededLimit = 'memory' | 'disk' | 'space' | 'time';

export type SandboxExit = {
  /** Null if a signal ended the command. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly exceeded: ExceededLimit | null;
};

/** A command that was started. */
export type SandboxedProcess = {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when nothing that the command has started runs any longer, and both streams have ended. Never rejects. */
  readonly exit: Promise<SandboxExit>;
  /** Sends one SIGINT to the command, and to no process that it has started. Later calls do nothing. */
  interrupt(): void;
  /** Kills everything in the sandbox. */
  kill(): void;
};

export type Sandbox = {
  readonly name: 'bubblewrap' | 'none';
  /** Returns the path at which commands see a mount. */
  locate(mount: SandboxMount): string;
  /** Starts a command. Rejects if it cannot be started. */
  start(command: SandboxCommand): Promise<SandboxedProcess>;
};

export type SandboxSettings = {
  /** `off`: commands run as the user of the executor, and can read its token. */
  readonly mode: 'on' | 'off';
  readonly limits: SandboxLimits;
  /** The origin of the Cadastre server. Commands always reach it. */
  readonly server: URL;
  /** Hosts, addresses and networks that commands reach although they are local. */
  readonly permittedHosts: readonly string[];
};

/** The sandbox that this machine can use, or a sentence that says what to install or to set. */
export type SandboxChoice =
  | {
      readonly sandbox: Sandbox;
      /** Whether the kernel limits the processors of commands. */
      readonly limitsProcessors: boolean;
    }
  | { readonly problem: string };
