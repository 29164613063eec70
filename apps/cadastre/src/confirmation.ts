import { createInterface } from 'node:readline/promises';
import { StartupError } from '#platform/host';

/** Prints the prompt on the terminal, and resolves to the typed line. */
export type Confirm = (prompt: string) => Promise<string>;

/** Throws unless the person at the terminal types `word`. `confirm` is null if there is no terminal. */
export const requireConfirmation = async (word: string, confirm: Confirm | null): Promise<void> => {
  if (!confirm) throw new StartupError('not confirmed; run this in a terminal, or add --yes. Nothing was changed');
  const answer = await confirm(`Type ${word} to confirm: `);
  if (answer.trim() !== word) throw new StartupError('not confirmed. Nothing was changed');
};

/** Returns null if there is no terminal, because nobody could answer. */
export const promptAtTerminal = (): Confirm | null =>
  process.stdin.isTTY
    ? async (prompt) => {
        const terminal = createInterface({ input: process.stdin, output: process.stderr });
        try {
          return await terminal.question(prompt);
        } finally {
          terminal.close();
        }
      }
    : null;
