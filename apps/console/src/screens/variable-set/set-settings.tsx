import { Alert, Switch, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { useDeleteVariableSet, useUpdateVariableSet, type VariableSetDocument } from '../../api/variable-sets.js';
import { Card } from '../../components/card.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { formatCount } from '../../components/counts.js';
import { PermittedButton } from '../../components/permitted-button.js';
import { SettingsCard, useSettings } from '../../components/settings-card.js';
import { TextLink } from '../../components/text-link.js';
import { useDeletionReport } from '../../components/use-deletion-report.js';
import { describeTargets, NO_SET_CHANGE } from '../variable-sets/variable-set-words.js';

type SettingsProps = {
  readonly organization: string;
  readonly document: VariableSetDocument;
  readonly canChange: boolean;
};

const Owner = ({ organization, document }: Pick<SettingsProps, 'organization' | 'document'>) => {
  const parent = document.data.relationships.parent.data;
  return (
    <Text size="sm">
      Owner:{' '}
      {parent.type === 'projects' ? (
        <TextLink
          to="/$organization/projects/$project"
          params={{ organization, project: parent.id }}
          underline="always"
        >
          a project
        </TextLink>
      ) : (
        'the organization'
      )}
    </Text>
  );
};

const General = ({ organization, document, canChange }: SettingsProps) => {
  const { id, attributes, relationships } = document.data;
  const change = useUpdateVariableSet(organization, id);
  const { name, description, global, priority } = attributes;
  const form = useSettings({ name, description: description ?? '', global, priority }, change);
  const targets = attributes['project-count'] + attributes['workspace-count'];
  return (
    <SettingsCard title="Settings" form={form} canChange={canChange} reason={NO_SET_CHANGE}>
      <Owner organization={organization} document={document} />
      <TextInput label="Name" required {...form.text('name')} />
      <TextInput label="Description" {...form.text('description')} />
      <Switch
        label="Apply to all workspaces of the organization"
        disabled={relationships.parent.data.type === 'projects'}
        {...form.checkbox('global')}
      />
      {form.values.global && !global && targets > 0 && (
        <Alert color="yellow" variant="light" role="status">
          The set loses its list ({describeTargets(document.data)}). An undo does not bring it back.
        </Alert>
      )}
      <Switch
        label="Priority"
        description="Its variables override those of workspaces and other sets with the same key."
        {...form.checkbox('priority')}
      />
    </SettingsCard>
  );
};

type DialogProps = Omit<SettingsProps, 'canChange'> & { readonly onClose: () => void };

const DeleteSetDialog = ({ organization, document, onClose }: DialogProps) => {
  const navigate = useNavigate();
  const { id, attributes } = document.data;
  const change = useDeleteVariableSet(organization, id);
  const report = useDeletionReport(organization);
  const leave = async () => {
    await report(id, {
      deleted: `The variable set ${attributes.name} is deleted.`,
      recovered: `The variable set ${attributes.name} is back.`,
    });
    onClose();
    void navigate({ to: '/$organization/settings/variable-sets', params: { organization } });
  };
  return (
    <ConfirmDialog
      title={`Delete ${attributes.name}`}
      action="Delete"
      typed={attributes.name}
      change={change}
      onConfirm={() => change.mutate(undefined, { onSuccess: () => void leave() })}
      onClose={onClose}
    >
      The set has {formatCount(attributes['var-count'], 'variable')}. It applies to: {describeTargets(document.data)}.
      Their next run no longer has these variables. If the site keeps deleted resources, you can recover the set.
    </ConfirmDialog>
  );
};

/** The settings of the set, and its deletion. */
export const SetSettings = (props: SettingsProps) => {
  const [isOpen, dialog] = useDisclosure(false);
  return (
    <>
      <General {...props} />
      <Card title="Delete this variable set">
        <div>
          <PermittedButton
            variant="light"
            color="red"
            isPermitted={props.canChange}
            reason={NO_SET_CHANGE}
            onClick={dialog.open}
          >
            Delete the variable set
          </PermittedButton>
        </div>
        {isOpen && <DeleteSetDialog {...props} onClose={dialog.close} />}
      </Card>
    </>
  );
};
