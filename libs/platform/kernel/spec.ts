import { expect } from '@jest/globals';
import { decide, fold, type Decider } from './events/decider.js';
import type { Message } from './events/message.js';
import { Refusal, type RefusalKind } from './errors/refusal.js';

/**
 * Describes a rule as given / when / yields. The last method is `yields` because an object with a method `then` is a
 * thenable: a stray `await` would call it.
 */
export const specify = <S, C extends Message, E extends Message>(decider: Decider<S, C, E>) => {
  const given = (...history: readonly E[]) => {
    const state = fold(decider, decider.initial, history);
    const attempt = (command: C): readonly E[] => decide(decider, command, state);
    return {
      when: (command: C) => ({
        yields: (...events: readonly E[]): void => {
          expect(attempt(command)).toEqual(events);
        },
        /** `pointers`: the JSON pointer of each problem, in order. */
        refuses: (kind: RefusalKind, detail: string | RegExp, ...pointers: readonly string[]): void => {
          let refusal: unknown;
          try {
            attempt(command);
          } catch (error) {
            refusal = error;
          }
          expect(refusal).toBeInstanceOf(Refusal);
          const refused = refusal as Refusal;
          expect(refused.kind).toBe(kind);
          expect(refused.message).toMatch(detail);
          if (pointers.length > 0) expect(refused.problems.map(({ pointer }) => pointer)).toEqual(pointers);
        },
      }),
      state,
    };
  };
  return { given };
};
