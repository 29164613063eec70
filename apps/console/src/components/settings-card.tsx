import { Fieldset, Stack, Text } from '@mantine/core';
import type { ReactNode, SyntheticEvent } from 'react';
import { showToast } from '../toasts.js';
import { Card } from './card.js';
import { listChanges, pickChanged, useForm } from './form.js';
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

/** The form of a card with settings. It sends only what the person has changed, and offers to undo it. */
export const useSettings = <V extends object>(present: V, change: SettingsChange<V>) => {
  const form = useForm(present, change);
  const changes = listChanges(present, form.trimmed);
  useUnsavedGuard(form.isUnsaved);
  const save = (): void => {
    const former = pickChanged(present, changes);
    const report = (message: string, undo?: () => void): void => void showToast({ kind: 'success', message, undo });
    // What the person has entered since then stays.
    const undo = (): void => change.mutate(former, { onSuccess: () => report('The former settings are back.') });
    const onSuccess = (): void => {
      form.reset();
      report('Saved.', undo);
    };
    change.mutate(changes, { onSuccess });
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
