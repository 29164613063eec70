import { useEffect, useEffectEvent } from 'react';
import { createStore } from '../store.js';

/* Commands of the open screen. The palette lists them, and runs one as if the person had pressed its button. */

type ScreenCommand = { readonly label: string; readonly run: () => void };

const commands = createStore<readonly ScreenCommand[]>([]);

/** Registers a command while the component is on the screen. Null registers none. */
export const useScreenCommand = (label: string | null, onRun: () => void): void => {
  const run = useEffectEvent(onRun);
  useEffect(() => {
    if (label === null) return undefined;
    const command = { label, run: () => run() };
    commands.set([...commands.get(), command]);
    return () => commands.set(commands.get().filter((each) => each !== command));
  }, [label]);
};

/** Returns the commands of the open screen. */
export const useScreenCommands = commands.useValue;
