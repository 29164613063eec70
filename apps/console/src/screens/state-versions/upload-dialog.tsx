import { Alert, Checkbox, Text } from '@mantine/core';
import { useState } from 'react';
import { useUploadState } from '../../api/state-uploads.js';
import type { Workspace } from '../../api/workspaces.js';
import { FactList } from '../../components/card.js';
import { FileDrop } from '../../components/file-drop.js';
import { useForm } from '../../components/form.js';
import { FormDialog } from '../../components/form-dialog.js';
import { FormProblems } from '../../components/problems.js';
import { reportAndClose } from '../../toasts.js';
import { readStateFile, type ChosenState } from './state-file.js';

type UploadDialogProps = {
  readonly organization: string;
  readonly workspace: Workspace;
  readonly holdsLock: boolean;
  readonly onClose: () => void;
};

const describeLock = (holdsLock: boolean): string =>
  holdsLock
    ? 'You hold the lock. The state becomes current when you unlock the workspace.'
    : 'The workspace is locked during the upload. No run starts meanwhile.';

const ChosenFile = ({ state: { file, serial, lineage, terraformVersion } }: { readonly state: ChosenState }) => (
  <FactList
    facts={[
      { label: 'File', value: file.name },
      { label: 'Serial', value: serial.toLocaleString() },
      { label: 'Lineage', value: lineage ?? 'none' },
      { label: 'Terraform version', value: terraformVersion ?? 'unknown' },
    ]}
  />
);

/** Uploads a state file as the newest state version. */
export const UploadDialog = ({ organization, workspace, holdsLock, onClose }: UploadDialogProps) => {
  const { name } = workspace.attributes;
  const [chosen, setChosen] = useState<ChosenState | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const change = useUploadState(organization, workspace);
  const form = useForm({ force: false }, change);
  const read = ([file]: readonly File[]): void => {
    if (!file) return;
    change.reset();
    setProblem(null);
    readStateFile(file).then(setChosen, (error: Error) => {
      setChosen(null);
      setProblem(error.message);
    });
  };
  const upload = (): void => {
    if (!chosen) return;
    const { terraformVersion: _, ...state } = chosen;
    const done = holdsLock
      ? `Serial ${chosen.serial} is stored. It becomes current when you unlock ${name}.`
      : `Serial ${chosen.serial} is the current state of ${name}.`;
    change.mutate({ ...state, ...form.values, holdsLock }, reportAndClose(done, onClose));
  };
  return (
    <FormDialog
      title={`Upload a state to ${name}`}
      action="Upload"
      isDisabled={chosen === null}
      intro={<Text size="sm">{describeLock(holdsLock)} Earlier versions stay.</Text>}
      // The refusal is beside the file.
      form={{ error: null, isPending: change.isPending }}
      onSubmit={upload}
      onClose={onClose}
    >
      <FileDrop label="a state file" action="Choose a file" isMultiple={false} isBusy={change.isPending} onFiles={read}>
        <Text size="sm">{chosen ? chosen.file.name : 'Drop a file here, such as terraform.tfstate.'}</Text>
      </FileDrop>
      {problem !== null && (
        <Alert color="red" role="alert">
          {problem}
        </Alert>
      )}
      <FormProblems error={change.error} />
      {chosen && <ChosenFile state={chosen} />}
      <Checkbox
        label="Accept another lineage, or a serial that is not higher"
        description="Without it, the server refuses a state that does not continue the present one."
        {...form.checkbox('force')}
      />
    </FormDialog>
  );
};
