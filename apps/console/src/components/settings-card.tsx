import { Fieldset, Stack, Text } from '@mantine/core';
import type { ReactNode, SyntheticEvent } from 'react';
import { showToast } from '../toasts.js';
import { Card } from './card.js';
import { listChanges, useForm } from './form.js';
import { PendingButton } from './pending-button.js';
import { FormProblems } from './problems.js';
import classes from './settings-card.module.css';
import { useUnsavedGuard } from './unsaved.js';

/** A change of some settings. The callback runs after the server has accepted it. */
type SettingsChange<V> = {
  readonly error: Error | null;
  readonly isPending: boolean;
  readonly mutate: (changes: Partial<V>, callbacks: { readonly onSuccess: () => void }) => void;
};

/** Returns the values that these changes replace. */
const listFormer = <V extends object>(present: V, changes: Partial<V>): Partial<V> =>
  Object.fromEntries(Object.entries(present).filter(([name]) => Object.hasOwn(changes, name))) as Partial<V>;

/** The form of a card with settings. It sends only what the person has changed, and offers to undo it. */
export const useSettings = <V extends object>(present: V, change: SettingsChange<V>) => {
  const form = useForm(present, change);
  const changes = listChanges(present, form.trimmed);
  useUnsavedGuard(form.isUnsaved);
  const save = (): void => {
    const former = listFormer(present, changes);
    const report = (message: string, undo?: () => void) => ({
      onSuccess: (): void => {
        form.reset();
        showToast({ kind: 'success', message, undo });
      },
    });
    const undo = (): void => change.mutate(former, report('The former settings are back.'));
    change.mutate(changes, report('Saved.', undo));
  };
  return { ...form, isChanged: Object.keys(changes).length > 0, save };
};

type SettingsCardProps = {
  readonly title: string;
  readonly form: {
    readonly error: Error | null;
    readonly isPending: boolean;
    readonly isChanged: boolean;
    readonly fields: readonly string[];
    readonly save: () => void;
  };
  readonly canChange: boolean;
  /** The people who may change the settings, for everybody else. */
  readonly reason: string;
  readonly children: ReactNode;
};

/** Settings that are saved together. People without the permission see the values, and who may change them. */
export const SettingsCard = ({ title, form, canChange, reason, children }: SettingsCardProps) => {
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (form.isChanged) form.save();
  };
  return (
    <Card title={title}>
      <form onSubmit={submit} aria-label={title}>
        <Stack gap="md">
          <FormProblems error={form.error} fields={form.fields} />
          <Fieldset variant="unstyled" disabled={!canChange} className={classes['fields']}>
            <Stack gap="md">{children}</Stack>
          </Fieldset>
          {canChange ? (
            <div>
              <PendingButton type="submit" isPending={form.isPending} disabled={!form.isChanged}>
                Save
              </PendingButton>
            </div>
          ) : (
            <Text size="sm" c="dimmed">
              {reason}
            </Text>
          )}
        </Stack>
      </form>
    </Card>
  );
};
