import { Button, Text, VisuallyHidden } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useContext } from 'react';
import { changesQuery, type ChangedField, type WorkspaceChange } from '../../api/history.js';
import type { Workspace } from '../../api/workspaces.js';
import { ResourceNamesContext } from '../../components/resource-name.js';
import { PagedList } from '../../components/paged-list.js';
import { Time } from '../../components/times.js';
import { compareLists, formatEventName, formatFieldName, formatFieldValue } from './field-texts.js';
import classes from './workspace-timeline.module.css';

const Removed = ({ text }: { readonly text: string }) => (
  <del className={classes['removed']}>
    <VisuallyHidden>was </VisuallyHidden>
    {text}
  </del>
);

const Added = ({ text }: { readonly text: string }) => (
  <ins className={classes['added']}>
    <VisuallyHidden>became </VisuallyHidden>
    {text}
  </ins>
);

/** Lists are shown by what was removed and added, other fields by both values. */
const FieldDifference = ({ change }: { readonly change: ChangedField }) => {
  const names = useContext(ResourceNamesContext);
  const list = compareLists(change, names);
  const before = list ? list.removed : [formatFieldValue(change.from, names)].filter((text) => text !== null);
  const after = list ? list.added : [formatFieldValue(change.to, names)].filter((text) => text !== null);
  return (
    <div className={classes['field']}>
      <dt>{formatFieldName(change.field)}</dt>
      <dd>
        {before.map((text) => (
          <Removed key={text} text={text} />
        ))}
        {after.map((text) => (
          <Added key={text} text={text} />
        ))}
        {before.length + after.length === 0 && 'no value'}
      </dd>
    </div>
  );
};

/** A creation sets every field. Those without a value or with the value `no` say nothing. */
const isInteresting = ({ from, to }: ChangedField): boolean => from !== null || (formatFieldValue(to) ?? 'no') !== 'no';

type EntryProps = {
  readonly change: WorkspaceChange;
  readonly isShown: boolean;
  readonly onShow: (time: string) => void;
};

const ChangeEntry = ({ change: { attributes }, isShown, onShow }: EntryProps) => {
  const time = attributes['created-at'];
  const event = formatEventName(attributes.event);
  return (
    <li className={classes['entry']} data-shown={isShown || undefined}>
      <div className={classes['headline']}>
        <strong>{event}</strong>
        <Text size="sm" c="dimmed" component="span">
          by {attributes['actor-name'] ?? 'somebody'}, <Time value={time} />
        </Text>
        <Button
          size="compact-xs"
          variant="subtle"
          aria-label={`Show the workspace after: ${event}`}
          aria-pressed={isShown}
          onClick={() => onShow(time)}
        >
          Show
        </Button>
      </div>
      <dl className={classes['fields']}>
        {attributes.changes.filter(isInteresting).map((change) => (
          <FieldDifference key={change.field} change={change} />
        ))}
      </dl>
    </li>
  );
};

type ChangeListProps = {
  readonly organization: string;
  readonly workspace: Workspace;
  readonly at: string | undefined;
  readonly onShow: (time: string) => void;
};

/** Who changed which field, the newest first. */
export const ChangeList = ({ organization, workspace, at, onShow }: ChangeListProps) => {
  const query = useInfiniteQuery(changesQuery(organization, workspace.attributes.name, workspace.id));
  return (
    <PagedList query={query} what="workspace" empty={null} more="Load earlier changes">
      {(changes) => (
        <ol className={classes['entries']} aria-label="Changes">
          {changes.map((change) => (
            <ChangeEntry
              key={change.id}
              change={change}
              isShown={change.attributes['created-at'] === at}
              onShow={onShow}
            />
          ))}
        </ol>
      )}
    </PagedList>
  );
};
