/** What the executor sends to the program inside of a sandbox. It is sent, and not in arguments, which other users can list. */
export type LaunchOrder = {
  readonly argv: readonly [program: string, ...parameters: string[]];
  readonly workingDirectory: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Ports of the loopback interface of the sandbox that lead to Unix sockets of the executor. */
  readonly listeners: readonly { readonly host: string; readonly port: number; readonly socket: string }[];
  /** The user and group that run the command; null: those of the launcher. */
  readonly user: number | null;
};

/** What the program inside of a sandbox reports: that the command runs, or why not, and then how it ended. */
export type LauncherMessage =
  | { readonly started: true }
  | { readonly failure: string }
  | { readonly code: number | null; readonly signal: NodeJS.Signals | null };
