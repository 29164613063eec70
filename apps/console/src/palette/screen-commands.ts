import { useEffect, useEffectEvent, useSyncExternalStore } from 'react';

/* Commands of the open screen. The palette lists them, and runs one as if the person had pressed its button. */

type ScreenCommand = { readonly label: string; readonly run: () => void };

const store = { commands: [] as readonly ScreenCommand[], listeners: new Set<() => void>() };

const subscribe = (listener: () => void) => {
  store.listeners.add(listener);
  return () => void store.listeners.delete(listener);
};

const replaceCommands = (commands: readonly ScreenCommand[]): void => {
  store.commands = commands;
  for (const listener of store.listeners) listener();
};

/** Registers a command while the component is on the screen. Null registers none. */
export const useScreenCommand = (label: string | null, onRun: () => void): void => {
  const run = useEffectEvent(onRun);
  useEffect(() => {
    if (label === null) return undefined;
    const command = { label, run: () => run() };
    replaceCommands([...store.commands, command]);
    return () => replaceCommands(store.commands.filter((each) => each !== command));
  }, [label]);
};

/** Returns the commands of the open screen. */
export const useScreenCommands = (): readonly ScreenCommand[] => useSyncExternalStore(subscribe, () => store.commands);
