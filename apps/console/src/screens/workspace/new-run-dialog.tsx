import { Alert, Button, Checkbox, Collapse, Radio, Stack, Text, Textarea } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { configurationVersionsQuery, useCreateRun, type ConfigurationVersion } from '../../api/runs.js';
import type { Workspace } from '../../api/workspaces.js';
import { TypedText } from '../../components/confirm-dialog.js';
import { Dialog } from '../../components/dialog.js';
import { useForm } from '../../components/form.js';
import { DialogForm } from '../../components/form-dialog.js';
import { AlertIcon } from '../../components/icons.js';
import { QueryState } from '../../components/states.js';
import { TerraformBlock } from '../../components/terraform-block.js';
import { showToast } from '../../toasts.js';
import { listInitialValues, toRunAttributes, type NewRunKind } from './new-run-form.js';
import { NewRunOptions, type NewRunForm } from './new-run-options.js';
import { UploadConfiguration } from './upload-configuration.js';

type KindText = { readonly kind: NewRunKind; readonly label: string; readonly description: string };

const KINDS: readonly KindText[] = [
  { kind: 'apply', label: 'Plan and apply', description: 'Shows what changes, and changes it after a confirmation.' },
  { kind: 'plan', label: 'Plan only', description: 'Shows what would change. It does not wait for other runs.' },
  { kind: 'refresh', label: 'Refresh only', description: 'Updates the state to what exists, and changes no resource.' },
  { kind: 'destroy', label: 'Destroy', description: 'Destroys all resources of the workspace.' },
];

const NO_DESTROY = 'Destroy plans are not allowed in the settings of this workspace.';
const NO_APPLY = 'You need a team that may apply runs of this workspace.';

type NewRunProps = { readonly organization: string; readonly workspace: Workspace; readonly onClose: () => void };

/** Describes how a workspace gets the configuration that a run needs. */
const NoConfiguration = ({ organization, workspace, onClose }: NewRunProps) => (
  <Stack>
    <Text size="sm">
      This workspace has no configuration yet, so there is nothing to plan. Upload an archive of the folder with your
      configuration:
    </Text>
    <UploadConfiguration organization={organization} workspace={workspace.id} />
    <Text size="sm">
      Or run <code>terraform plan</code> in this folder, with this block in the configuration. It also queues a run.
    </Text>
    <TerraformBlock organization={organization} workspace={workspace.attributes.name} label="the block to add" />
    <Button variant="default" w="fit-content" ml="auto" onClick={onClose}>
      Close
    </Button>
  </Stack>
);

type FieldProps = { readonly form: NewRunForm; readonly workspace: Workspace };

const KindField = ({ form, workspace }: FieldProps) => {
  const canDestroy = workspace.attributes.permissions['can-queue-destroy'];
  return (
    <Radio.Group label="Kind" value={form.values.kind} onChange={(kind) => form.enter({ kind: kind as NewRunKind })}>
      <Stack gap="xs" mt={6}>
        {KINDS.map(({ kind, label, description }) => {
          const isRefused = kind === 'destroy' && !canDestroy;
          return (
            <Radio
              key={kind}
              value={kind}
              label={label}
              color={kind === 'destroy' ? 'red' : undefined}
              disabled={isRefused}
              description={isRefused ? NO_DESTROY : description}
            />
          );
        })}
      </Stack>
    </Radio.Group>
  );
};

const AutoApplyField = ({ form, workspace }: FieldProps) => {
  const canApply = workspace.attributes.permissions['can-queue-apply'];
  return (
    <Checkbox
      label="Apply without a confirmation"
      description={canApply ? 'The apply starts as soon as the plan is done.' : NO_APPLY}
      disabled={!canApply}
      {...form.checkbox('auto-apply')}
    />
  );
};

type ContentProps = NewRunProps & { readonly configurations: readonly ConfigurationVersion[] };

const useNewRun = ({ organization, workspace, onClose }: NewRunProps) => {
  const navigate = useNavigate();
  const creation = useCreateRun(organization, workspace.id);
  const form = useForm(listInitialValues(workspace), creation);
  const queue = () => {
    const configuration = form.values['configuration-version'];
    const onSuccess = ({ id }: { readonly id: string }) => {
      showToast({ kind: 'success', message: 'The run is queued.' });
      onClose();
      const params = { organization, workspace: workspace.attributes.name, run: id };
      void navigate({ to: '/$organization/workspaces/$workspace/runs/$run', params });
    };
    creation.mutate({ attributes: toRunAttributes(form.values), configuration }, { onSuccess });
  };
  return { form, queue };
};

const NewRunFields = (props: ContentProps) => {
  const { workspace, configurations, onClose } = props;
  const { form, queue } = useNewRun(props);
  const [isOpen, options] = useDisclosure(false);
  const [typed, setTyped] = useState('');
  const { name } = workspace.attributes;
  const isDestroy = form.values.kind === 'destroy';
  const isConfirmed = !isDestroy || typed === name;
  return (
    <DialogForm
      action={isDestroy ? 'Queue the destruction' : 'Queue the run'}
      isDangerous={isDestroy}
      isDisabled={!isConfirmed}
      form={form}
      onSubmit={() => isConfirmed && queue()}
      onClose={onClose}
    >
      <KindField form={form} workspace={workspace} />
      <Textarea
        label="Message"
        description="Why you queue the run. Everybody who may read the run can read it."
        data-autofocus
        autosize
        minRows={1}
        maxRows={6}
        {...form.text('message')}
      />
      {form.values.kind !== 'plan' && <AutoApplyField form={form} workspace={workspace} />}
      <Button variant="subtle" w="fit-content" ml={-12} aria-expanded={isOpen} onClick={options.toggle}>
        {isOpen ? 'Fewer options' : 'More options'}
      </Button>
      <Collapse expanded={isOpen} transitionDuration={0}>
        <NewRunOptions
          form={form}
          configurations={configurations}
          upload={<UploadConfiguration organization={props.organization} workspace={workspace.id} />}
        />
      </Collapse>
      {isDestroy && (
        <>
          <Alert color="red" variant="light" icon={<AlertIcon />} title={`The run destroys all resources of ${name}`}>
            {form.values['auto-apply']
              ? 'Nobody confirms the plan: the resources are destroyed as soon as it is done.'
              : 'The plan shows them before a person confirms the run.'}
          </Alert>
          <TypedText typed={name} text={typed} onText={setTyped} />
        </>
      )}
    </DialogForm>
  );
};

/** Queues a run of the workspace. */
export const NewRunDialog = (props: NewRunProps) => {
  const { organization, workspace, onClose } = props;
  const query = useQuery(configurationVersionsQuery(organization, workspace.id));
  return (
    <Dialog onClose={onClose} title={`New run of ${workspace.attributes.name}`} size="lg">
      <QueryState query={query} what="list of configurations">
        {(versions) => {
          const uploaded = versions.filter(({ attributes }) => attributes.status === 'uploaded');
          return uploaded.length === 0 ? (
            <NoConfiguration {...props} />
          ) : (
            <NewRunFields {...props} configurations={uploaded} />
          );
        }}
      </QueryState>
    </Dialog>
  );
};
