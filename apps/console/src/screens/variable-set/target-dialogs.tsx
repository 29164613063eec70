import { SegmentedControl, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useChangeTarget, type TargetKind } from '../../api/variable-sets.js';
import { workspaceSuggestionsQuery } from '../../api/workspaces.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { formatCount } from '../../components/counts.js';
import { FormDialog } from '../../components/form-dialog.js';
import { ProjectSelect } from '../../components/project-select.js';
import { SearchSelect, toOption, useSuggestionText } from '../../components/search-select.js';
import { reportAndClose } from '../../toasts.js';

export type SetTarget = {
  readonly id: string;
  readonly kind: TargetKind;
  /** The id, if the person may not read the workspace or project. */
  readonly name: string;
  /** The number of workspaces that get the variables. */
  readonly reach: number;
};

type DialogProps = {
  readonly organization: string;
  /** The id of the variable set. */
  readonly set: string;
  readonly setName: string;
  readonly onClose: () => void;
};

type TargetFieldProps = {
  readonly organization: string;
  readonly value: string | null;
  readonly onChange: (id: string | null) => void;
};

const WorkspaceField = ({ organization, ...field }: TargetFieldProps) => {
  const { searched, onSearch } = useSuggestionText();
  const { data = [] } = useQuery(workspaceSuggestionsQuery(organization, searched));
  return (
    <SearchSelect
      {...field}
      label="Workspace"
      placeholder="Choose a workspace"
      required
      options={data.map(toOption)}
      chosen={undefined}
      onSearch={onSearch}
    />
  );
};

const KINDS = [
  { value: 'projects', label: 'A project' },
  { value: 'workspaces', label: 'A workspace' },
];

/** Applies the set to a project or a workspace. */
export const AddTargetDialog = ({ organization, set, setName, onClose }: DialogProps) => {
  const change = useChangeTarget(organization, set);
  const [kind, setKind] = useState<TargetKind>('projects');
  const [id, setId] = useState<string | null>(null);
  const field = { organization, value: id, onChange: setId };
  const apply = () => {
    if (id === null) return;
    const undo = () => change.mutate({ action: 'remove', kind, id });
    change.mutate(
      { action: 'add', kind, id },
      reportAndClose(`The set ${setName} applies to one more.`, onClose, undo),
    );
  };
  return (
    <FormDialog
      title={`Apply ${setName}`}
      action="Apply"
      isDisabled={id === null}
      form={change}
      onSubmit={apply}
      onClose={onClose}
      intro={<Text size="sm">The next run of each workspace gets the variables.</Text>}
    >
      <SegmentedControl
        transitionDuration={0}
        aria-label="Apply to"
        data={KINDS}
        value={kind}
        onChange={(chosen) => {
          setKind(chosen as TargetKind);
          setId(null);
        }}
      />
      {kind === 'projects' ? (
        <ProjectSelect {...field} label="Project" placeholder="Choose a project" required />
      ) : (
        <WorkspaceField {...field} />
      )}
    </FormDialog>
  );
};

/** Takes the variables of the set away from a project or a workspace. */
export const RemoveTargetDialog = (props: DialogProps & { readonly target: SetTarget }) => {
  const { organization, set, setName, target, onClose } = props;
  const { kind, id, name, reach } = target;
  const change = useChangeTarget(organization, set);
  const undo = () => change.mutate({ action: 'add', kind, id });
  return (
    <ConfirmDialog
      title={`Remove ${name} from ${setName}`}
      action="Remove"
      change={change}
      onConfirm={() =>
        change.mutate(
          { action: 'remove', kind, id },
          reportAndClose(`The set ${setName} no longer applies to ${name}.`, onClose, undo),
        )
      }
      onClose={onClose}
    >
      {kind === 'projects' ? formatCount(reach, 'workspace') : name} no longer{' '}
      {kind === 'projects' && reach !== 1 ? 'get' : 'gets'} the variables of the set from the next run, besides
      workspaces that it reaches in another way.
    </ConfirmDialog>
  );
};
