import type { DataOf, Message, Recorded } from '#kernel';
import type { Change, Known } from './chronicle.js';
import type { Data } from './fields.js';

/** An event of an organization: all others have no place in a history. */
export type Told = Recorded & { readonly organization: string };

export type Sentences<E extends Message> = {
  readonly [T in E['type']]: ((data: DataOf<E, T>, event: Told, known: Known) => readonly Change[]) | null;
};

export const born = (subject: string, birth: Data): readonly Change[] => [{ subject, birth }];
export const became = (subject: string, patch: Data): readonly Change[] => [{ subject, patch }];
export const gone = (subject: string): readonly Change[] => [{ subject, patch: null }];
