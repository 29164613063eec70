import { Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { forbiddingKeysQuery } from '../api/bulk-changes.js';
import { findIncluded } from '../api/included.js';
import { createTagReader, type TagFact } from '../api/tag-facts.js';
import { taggedWorkspaceQuery } from '../api/workspace-tags.js';
import { ChangedNotice } from './changed-notice.js';
import { Dialog } from './dialog.js';
import { DialogForm } from './form-dialog.js';
import { KEY_RULE } from './key-rule.js';
import { LongText } from './long-text.js';
import { PendingButton } from './pending-button.js';
import { findFieldProblem, FormProblems } from './problems.js';
import { LoadingLines, QueryState } from './states.js';
import { useTagChanges, useTagForm, type TagContentProps, type TagFormProps } from './tag-form.js';
import { formatTag } from './tag-text.js';
import { TextLink } from './text-link.js';

const NO_CHANGE = 'You need a team with write or admin access to this workspace or its project to change its tags.';
const RESERVED = 'The key is reserved, and workspaces must not override the value of their project.';

type RemoveButtonProps = { readonly isPending: boolean; readonly onRemove: () => void };

const RemoveButton = ({ isPending, onRemove }: RemoveButtonProps) => (
  <div>
    <PendingButton variant="light" color="red" size="compact-sm" isPending={isPending} onClick={onRemove}>
      Remove the tag
    </PendingButton>
  </div>
);

type FieldProps = {
  readonly label: string;
  readonly isFirst?: boolean;
  readonly value: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly error: string | null;
  readonly onValue: (value: string) => void;
};

const Field = ({ isFirst = false, onValue, ...field }: FieldProps) => {
  const input = useRef<HTMLInputElement>(null);
  // The dialog can be open before its data are there.
  useEffect(() => {
    if (isFirst) input.current?.focus();
  }, [isFirst]);
  return (
    <TextInput
      {...field}
      ref={input}
      data-autofocus={isFirst || undefined}
      autoComplete="off"
      onChange={(event) => onValue(event.currentTarget.value)}
    />
  );
};

const TagForm = (props: TagFormProps) => {
  const { tagKey, onClose } = props;
  const { own, present, changes, ...form } = useTagForm(props);
  const { error, isPending, remove } = changes;
  const isNew = tagKey === null;
  return (
    <DialogForm
      action="Save"
      form={{ error, isPending, fields: isNew ? ['key', 'value'] : ['value'] }}
      onSubmit={form.submit}
      onClose={onClose}
    >
      {form.isOutdated && (
        <ChangedNotice what="tag" onReset={form.reset}>
          The workspace now has {own ? formatTag(own) : 'no tag of its own with this key'}.
        </ChangedNotice>
      )}
      {isNew && (
        <Field
          label="Key"
          isFirst
          required
          value={form.typedKey}
          description={present ? `It replaces ${formatTag(present)} in this workspace.` : KEY_RULE}
          error={findFieldProblem(error, 'key')}
          onValue={form.enterKey}
        />
      )}
      <Field
        label="Value"
        isFirst={!isNew}
        // Without a value, the tag would only hide the one of the project.
        required={present?.isInherited}
        value={form.value}
        error={findFieldProblem(error, 'value')}
        onValue={form.enterValue}
      />
      {own && !isNew && <RemoveButton isPending={isPending} onRemove={() => remove(own)} />}
    </DialogForm>
  );
};

/** A value that the workspace should not have. The person can only remove it. */
const FixedTag = (props: TagFormProps & { readonly tag: TagFact }) => {
  const { tag } = props;
  const { error, isPending, remove } = useTagChanges(props, tag);
  return (
    <>
      <FormProblems error={error} />
      {!tag.isInherited && <RemoveButton isPending={isPending} onRemove={() => remove(tag)} />}
    </>
  );
};

type TagNotesProps = {
  readonly tag: TagFact;
  /** The name of the project of the workspace. */
  readonly project: string;
  readonly isFixed: boolean;
  readonly canChange: boolean;
};

/** Describes a tag that the person cannot change here, or not completely, and why. */
const TagNotes = ({ tag, project, isFixed, canChange }: TagNotesProps) => {
  if (canChange && !isFixed && !tag.isInherited) return null;
  return (
    <>
      <LongText text={formatTag(tag)} />
      {tag.isInherited && (
        <Text size="sm">
          The tag comes from the project {project}, so you cannot remove it here.
          {canChange && !isFixed && ' A value that you save here replaces it in this workspace only.'}
        </Text>
      )}
      {isFixed && <Text size="sm">{RESERVED}</Text>}
    </>
  );
};

/** Returns whether a reserved key forbids the workspace a value of its own. Undefined until the reserved keys are there. */
const useIsFixed = (organization: string, tag: TagFact | undefined): boolean | undefined => {
  const { data, isPending } = useQuery(forbiddingKeysQuery(organization));
  if (!tag?.isInherited) return tag?.isForbidden ?? false;
  return isPending ? undefined : (data?.includes(tag.key) ?? false);
};

const TagContent = (props: TagContentProps) => {
  const { organization, workspace, tagKey } = props;
  const { attributes, relationships } = workspace.data;
  const tags = createTagReader(workspace)(workspace.data);
  const tag = tags.find(({ key }) => key === tagKey);
  const isFixed = useIsFixed(organization, tag);
  if (isFixed === undefined) return <LoadingLines />;
  const canChange = attributes.permissions['can-manage-tags'];
  const project = findIncluded(workspace, relationships.project.data)?.attributes.name ?? '';
  const form = { ...props, tags, isFixed };
  return (
    <Stack>
      {tag && <TagNotes tag={tag} project={project} isFixed={isFixed} canChange={canChange} />}
      {!canChange && (
        <Text size="sm" c="dimmed">
          {NO_CHANGE}
        </Text>
      )}
      {canChange && (tag && isFixed ? <FixedTag {...form} tag={tag} /> : <TagForm {...form} />)}
    </Stack>
  );
};

const formatTitle = (workspace: string, tagKey: string | null): string =>
  tagKey === null ? `New tag of ${workspace}` : `${workspace}: tag ${tagKey}`;

/** Adds, changes or removes a tag of a workspace, and describes where a tag comes from. */
export const WorkspaceTagDialog = (props: TagContentProps) => (
  <Dialog onClose={props.onClose} title={formatTitle(props.workspace.data.attributes.name, props.tagKey)}>
    <TagContent {...props} />
  </Dialog>
);

/** The dialog reads the workspace by its id, because the name can change. */
type LinkedTagDialogProps = Omit<TagContentProps, 'workspace'> & {
  readonly workspace: { readonly id: string; readonly name: string };
};

/** Shows the same dialog on a screen of several workspaces, with a link to the workspace. */
export const LinkedTagDialog = ({ workspace: { id, name }, ...props }: LinkedTagDialogProps) => {
  const { organization, tagKey, onClose } = props;
  const query = useQuery(taggedWorkspaceQuery(organization, id));
  const workspace = query.data?.data.attributes.name ?? name;
  return (
    <Dialog onClose={onClose} title={formatTitle(workspace, tagKey)}>
      <Stack>
        <QueryState query={query} what="workspace">
          {(document) => <TagContent {...props} workspace={document} />}
        </QueryState>
        <TextLink to="/$organization/workspaces/$workspace" params={{ organization, workspace }}>
          Open the workspace {workspace}
        </TextLink>
      </Stack>
    </Dialog>
  );
};
