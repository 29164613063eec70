import { Badge, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState, type ReactNode } from 'react';
import { ApiError } from '../../api/api-error.js';
import { planDocumentQuery } from '../../api/run-output.js';
import { LoadingLines, QueryState } from '../../components/states.js';
import {
  readPlanChanges,
  type AttributeChange,
  type ChangeAction,
  type ModuleChanges,
  type PlanChanges,
  type PlannedResource,
} from './plan-changes.js';
import shared from '../../components/resource-changes.module.css';
import classes from './plan-tree.module.css';

/** More elements make the page slow. */
const MAX_RESOURCES = 500;
const MAX_ATTRIBUTES = 300;

/** The symbols are those of terraform. */
const ACTIONS: Readonly<
  Record<ChangeAction, { readonly symbol: string; readonly word: string; readonly color: string }>
> = {
  create: { symbol: '+', word: 'Create', color: 'green' },
  update: { symbol: '~', word: 'Change', color: 'yellow' },
  replace: { symbol: '±', word: 'Replace', color: 'orange' },
  delete: { symbol: '−', word: 'Destroy', color: 'red' },
  read: { symbol: '≤', word: 'Read', color: 'blue' },
  forget: { symbol: '·', word: 'Forget', color: 'gray' },
  import: { symbol: '→', word: 'Import', color: 'blue' },
  move: { symbol: '↦', word: 'Move', color: 'blue' },
  changed: { symbol: '~', word: 'Changed', color: 'yellow' },
  deleted: { symbol: '−', word: 'Deleted', color: 'red' },
  none: { symbol: '~', word: 'Changed', color: 'gray' },
};

const ActionBadge = ({ action }: { readonly action: ChangeAction }) => {
  const { symbol, word, color } = ACTIONS[action];
  return (
    <Badge color={color}>
      <span aria-hidden="true">{symbol} </span>
      {word}
    </Badge>
  );
};

const Values = ({ change: { before, after, isUnknown, isSensitive } }: { readonly change: AttributeChange }) => (
  <>
    {before !== null && (isSensitive ? <span className={shared['quiet']}>sensitive value</span> : <del>{before}</del>)}
    {before !== null && (after !== null || isUnknown) && <span aria-hidden="true">→</span>}
    {isUnknown && <span className={shared['quiet']}>known after apply</span>}
    {after !== null &&
      (isSensitive ? (
        <span className={shared['quiet']}>{before === null ? 'sensitive value' : 'another sensitive value'}</span>
      ) : (
        <ins>{after}</ins>
      ))}
  </>
);

const Attributes = ({ attributes }: { readonly attributes: readonly AttributeChange[] }) => (
  <>
    <dl className={shared['values']}>
      {attributes.slice(0, MAX_ATTRIBUTES).map((change) => (
        <div key={change.path} className={shared['value']}>
          <dt>
            <code>{change.path}</code>
          </dt>
          <dd>
            <Values change={change} />
            {change.forcesReplacement && <span className={classes['forces']}>forces replacement</span>}
          </dd>
        </div>
      ))}
    </dl>
    {attributes.length > MAX_ATTRIBUTES && (
      <Text size="sm" p="xs">
        The list shows the first {MAX_ATTRIBUTES} of {attributes.length.toLocaleString()} attributes.
      </Text>
    )}
  </>
);

/** Its attributes are rendered when it is opened: a plan can have thousands of resources. */
const Resource = ({ resource }: { readonly resource: PlannedResource }) => {
  const { address, action, notes, attributes } = resource;
  const [isOpen, setOpen] = useState(action === 'replace');
  return (
    <details className={shared['resource']} open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <ActionBadge action={action} /> <code>{address}</code>
      </summary>
      {isOpen && (
        <>
          {notes.map((note) => (
            <p key={note} className={classes['note']}>
              {note}
            </p>
          ))}
          {attributes.length === 0 && <p className={classes['note']}>No attribute changes.</p>}
          <Attributes attributes={attributes} />
        </>
      )}
    </details>
  );
};

const Resources = ({ resources }: { readonly resources: readonly PlannedResource[] }) => (
  <div className={classes['resources']}>
    {resources.slice(0, MAX_RESOURCES).map((resource, index) => (
      // An address can occur twice: a deposed object has the address of the resource.
      <Resource key={`${resource.address} ${index}`} resource={resource} />
    ))}
    {resources.length > MAX_RESOURCES && (
      <Text size="sm">
        The list shows the first {MAX_RESOURCES} of {resources.length.toLocaleString()} resources.
      </Text>
    )}
  </div>
);

const Module = ({ module, resources }: ModuleChanges) =>
  module === '' ? (
    <Resources resources={resources} />
  ) : (
    <details open className={classes['module']}>
      <summary>
        <code>{module}</code> <span className={shared['quiet']}>{countResources(resources.length)}</span>
      </summary>
      <Resources resources={resources} />
    </details>
  );

const countResources = (count: number): string => (count === 1 ? '1 resource' : `${count.toLocaleString()} resources`);

const Changes = ({ changes: { modules, outputs, drift } }: { readonly changes: PlanChanges }) => (
  <div className={classes['tree']}>
    {modules.length === 0 && outputs.length === 0 && <Text size="sm">The plan changes no resource and no output.</Text>}
    {modules.map((each) => (
      <Module key={each.module} {...each} />
    ))}
    {outputs.length > 0 && (
      <section aria-label="Changed outputs">
        <Text fw={600} size="sm">
          Outputs
        </Text>
        <Attributes attributes={outputs.flatMap(({ attributes }) => attributes)} />
      </section>
    )}
    {drift.length > 0 && (
      <details className={classes['module']}>
        <summary>
          Changed outside of terraform <span className={shared['quiet']}>{countResources(drift.length)}</span>
        </summary>
        <Resources resources={drift} />
      </details>
    )}
  </div>
);

type DocumentProps = { readonly document: Readonly<Record<string, unknown>> };

const PlanDocument = ({ document }: DocumentProps) => {
  const changes = useMemo(() => readPlanChanges(document), [document]);
  return <Changes changes={changes} />;
};

/** A resource that only has another address has not drifted. */
const NO_DRIFT: readonly ChangeAction[] = ['move', 'none'];

const DriftDocument = ({ document }: DocumentProps) => {
  const { drift } = useMemo(() => readPlanChanges(document), [document]);
  return <Resources resources={drift.filter(({ action }) => !NO_DRIFT.includes(action))} />;
};

type PlanTreeProps = { readonly organization: string; readonly run: string };

type DocumentStateProps = PlanTreeProps & { readonly children: (document: DocumentProps['document']) => ReactNode };

const DocumentState = ({ organization, run, children }: DocumentStateProps) => {
  const query = useQuery(planDocumentQuery(organization, run));
  if (query.error instanceof ApiError && query.error.isNotFound)
    return (
      <Text size="sm" c="dimmed">
        {query.error.message}
      </Text>
    );
  return (
    <QueryState query={query} what="plan" loading={<LoadingLines />}>
      {children}
    </QueryState>
  );
};

/** What a plan changes, resource by resource. */
export const PlanTree = (props: PlanTreeProps) => (
  <DocumentState {...props}>{(document) => <PlanDocument document={document} />}</DocumentState>
);

/** The resources that the plan of a health assessment has found different from the state. */
export const DriftTree = (props: PlanTreeProps) => (
  <DocumentState {...props}>{(document) => <DriftDocument document={document} />}</DocumentState>
);
