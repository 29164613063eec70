import { TagsInput, Textarea } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiError } from '../api/api-error.js';
import { organizationQuery } from '../api/organizations.js';
import { projectSuggestionsQuery } from '../api/projects.js';
import { useCreateWorkspace, type NewWorkspace } from '../api/workspace-creation.js';
import { FormDialog } from './form-dialog.js';
import { KEY_RULE } from './key-rule.js';
import { NameField } from './name-field.js';
import { findFieldProblem } from './problems.js';
import { ProjectSelect } from './project-select.js';
import { formatTag, parseTag } from './tag-text.js';
import { showToast } from './toasts.js';

const TAG_FIELDS = ['key', 'value', 'tag-bindings'];
const FIELDS = ['name', 'project', 'description', ...TAG_FIELDS];

/** Returns why tags were refused, each with the tag. */
const findTagProblem = (error: Error | null, tags: NewWorkspace['tags'] = []): string | null => {
  if (!(error instanceof ApiError)) return null;
  const problems = error.problems.filter(({ field }) => field !== null && TAG_FIELDS.includes(field));
  const texts = problems.map(({ detail, pointer }) => {
    const tag = tags[Number(/tag-bindings\/data\/(\d+)\//.exec(pointer ?? '')?.[1] ?? Number.NaN)];
    return tag ? `${formatTag(tag)}: ${detail}` : detail;
  });
  return texts.join('. ') || null;
};

/** A key has one value: the one that was entered last. */
const keepLastOfEachKey = (texts: readonly string[]): readonly string[] => [
  ...new Map(texts.map((text) => [parseTag(text).key, text])).values(),
];

/** Returns the project that the person most likely means, and whether the person may create workspaces in every project. */
const useSuggestedProject = (organization: string, preferred: string | undefined) => {
  const { data } = useQuery(organizationQuery(organization));
  const { data: permitted = [] } = useQuery(projectSuggestionsQuery(organization, '', 'create-workspace'));
  if (data?.attributes.permissions['can-create-workspace']) {
    return { isEverywhere: true, project: preferred ?? data.relationships['default-project'].data?.id ?? null };
  }
  const only = permitted.length === 1 ? permitted[0] : undefined;
  const project = permitted.find(({ id }) => id === preferred) ?? only;
  return { isEverywhere: false, project: project?.id ?? null };
};

type CreateWorkspaceDialogProps = {
  readonly organization: string;
  readonly project: string | undefined;
  readonly onClose: () => void;
};

/** `tags`: texts like `env=prod`. */
type WorkspaceFields = {
  readonly name: string;
  readonly project: string | null;
  readonly description: string;
  readonly tags: readonly string[];
};

type TagsFieldProps = {
  readonly tags: readonly string[];
  readonly error: string | null;
  readonly onChange: (tags: readonly string[]) => void;
};

const TagsField = ({ tags, error, onChange }: TagsFieldProps) => (
  <TagsInput
    label="Tags"
    description={`key=value, then Enter. A key alone is a tag without a value. Key: ${KEY_RULE}`}
    placeholder={tags.length === 0 ? 'env=prod' : ''}
    clearable
    clearButtonProps={{ 'aria-label': 'Clear the tags' }}
    // A value can contain a comma.
    splitChars={[]}
    value={[...tags]}
    onChange={(values) => onChange(keepLastOfEachKey(values))}
    error={error}
  />
);

const useWorkspaceForm = ({ organization, project: preferred }: CreateWorkspaceDialogProps) => {
  const navigate = useNavigate();
  const { isEverywhere, project } = useSuggestedProject(organization, preferred);
  const [entered, setEntered] = useState<Partial<WorkspaceFields>>({});
  const creation = useCreateWorkspace(organization);
  const values: WorkspaceFields = { name: '', description: '', tags: [], project, ...entered };
  return {
    values,
    isEverywhere,
    error: creation.error,
    tagProblem: findTagProblem(creation.error, creation.variables?.tags),
    isPending: creation.isPending,
    enter: (fields: Partial<WorkspaceFields>) => setEntered({ ...entered, ...fields }),
    create: () => {
      const workspace = {
        name: values.name.trim(),
        description: values.description.trim(),
        project: values.project,
        tags: values.tags.map(parseTag),
      };
      const onSuccess = () => {
        showToast({ kind: 'success', message: `The workspace ${workspace.name} is created.` });
        const params = { organization, workspace: workspace.name };
        void navigate({ to: '/$organization/workspaces/$workspace', params });
      };
      creation.mutate(workspace, { onSuccess });
    },
  };
};

/** Creates a workspace, and opens it. Its overview shows the block that connects a configuration to it. */
export const CreateWorkspaceDialog = (props: CreateWorkspaceDialogProps) => {
  const { values, isEverywhere, error, tagProblem, isPending, enter, create } = useWorkspaceForm(props);
  return (
    <FormDialog
      title="New workspace"
      action="Create"
      isPending={isPending}
      error={error}
      fields={FIELDS}
      onSubmit={create}
      onClose={props.onClose}
    >
      <NameField
        value={values.name}
        description="Letters, digits, hyphens and underscores."
        error={error}
        onChange={(name) => enter({ name })}
      />
      <ProjectSelect
        organization={props.organization}
        label="Project"
        placeholder={isEverywhere ? 'The default project' : 'Choose a project'}
        required={!isEverywhere}
        suggested="create-workspace"
        value={values.project}
        onChange={(project) => enter({ project })}
        error={findFieldProblem(error, 'project')}
      />
      <Textarea
        label="Description"
        autosize
        minRows={2}
        maxRows={8}
        value={values.description}
        onChange={(event) => enter({ description: event.currentTarget.value })}
        error={findFieldProblem(error, 'description')}
      />
      <TagsField tags={values.tags} error={tagProblem} onChange={(tags) => enter({ tags })} />
    </FormDialog>
  );
};
