type Killable = { readonly ended: Promise<unknown>; kill(signal: NodeJS.Signals): void };

export type KeptProcess = {
  /** Sends SIGKILL. The process starts again. */
  kill(): void;
  stop(): Promise<void>;
};

/** Starts a process again whenever it ends, as systemd does. */
export const keepRunning = (start: () => Killable): KeptProcess => {
  let isStopping = false;
  let current = start();
  const loop = async (): Promise<void> => {
    while (!isStopping) {
      await current.ended;
      if (!isStopping) current = start();
    }
  };
  const running = loop();
  return {
    kill: () => current.kill('SIGKILL'),
    stop: async () => {
      isStopping = true;
      current.kill('SIGKILL');
      await running;
    },
  };
};
