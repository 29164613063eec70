import { useState, type ChangeEvent } from 'react';
import { findFieldProblem } from './problems.js';

type PendingChange = { readonly error: Error | null; readonly isPending: boolean };
type NamesOf<V, T> = { [K in keyof V]: V[K] extends T ? K : never }[keyof V] & string;

const trimTexts = <V extends object>(values: V): V =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' ? value.trim() : (value as unknown),
    ]),
  ) as V;

/** Returns the values that differ from the present ones. */
export const listChanges = <V extends object>(present: V, values: V): Partial<V> =>
  Object.fromEntries(
    Object.entries(values).filter(([name, value]) => value !== present[name as keyof V]),
  ) as Partial<V>;

/** Returns those of the values whose names are among the changes. */
export const pickChanged = <V extends object>(values: V, changes: object): Partial<V> =>
  Object.fromEntries(Object.entries(values).filter(([name]) => Object.hasOwn(changes, name))) as Partial<V>;

/**
 * The fields of a form. Their names are those of the API, so that each field shows why `change` was refused. A field that the
 * person has not changed follows its value in `present`.
 */
export const useForm = <V extends object>(present: V, { error, isPending }: PendingChange) => {
  const [entered, setEntered] = useState<Partial<V>>({});
  const values: V = { ...present, ...entered };
  const enter = (fields: Partial<V>): void => setEntered((before) => ({ ...before, ...fields }));
  const set = (name: keyof V, value: unknown): void => enter({ [name]: value } as Partial<V>);
  return {
    values,
    /** The values without spaces around texts. */
    trimmed: trimTexts(values),
    /** The fields that show their own problems. */
    fields: Object.keys(present),
    error,
    isPending,
    /** Whether the person has entered something that is not saved. */
    isUnsaved: !isPending && Object.keys(listChanges(present, values)).length > 0,
    enter,
    reset: (): void => setEntered({}),
    /** Returns the properties of a field for a text. */
    text: <K extends NamesOf<V, string>>(name: K) => ({
      autoComplete: 'off',
      value: values[name] as string,
      onChange: (event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) => set(name, event.currentTarget.value),
      error: findFieldProblem(error, name),
    }),
    /** Returns the properties of a checkbox. */
    checkbox: <K extends NamesOf<V, boolean>>(name: K) => ({
      checked: values[name] as boolean,
      onChange: (event: ChangeEvent<HTMLInputElement>) => set(name, event.currentTarget.checked),
      error: findFieldProblem(error, name),
    }),
    /** Returns the properties of a field that chooses a value. */
    choice: <K extends keyof V & string>(name: K) => ({
      value: values[name],
      onChange: (value: V[K]) => set(name, value),
      error: findFieldProblem(error, name),
    }),
  };
};
