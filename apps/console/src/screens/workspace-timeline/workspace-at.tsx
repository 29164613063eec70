import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useContext } from 'react';
import { workspaceAsOfQuery } from '../../api/history.js';
import type { WorkspaceDocument } from '../../api/workspaces.js';
import { ResourceNamesContext } from '../../components/resource-name.js';
import { QueryState } from '../../components/states.js';
import { formatExactTime } from '../../components/times.js';
import { WideTable } from '../../components/wide-table.js';
import { listWorkspaceFields } from './field-texts.js';
import classes from './workspace-timeline.module.css';
import { formatCount } from '../../components/counts.js';

type FieldTableProps = { readonly then: WorkspaceDocument; readonly now: WorkspaceDocument };

const FieldTable = ({ then, now }: FieldTableProps) => {
  const names = useContext(ResourceNamesContext);
  const present = new Map(listWorkspaceFields(now, names).map(({ label, value }) => [label, value]));
  const fields = listWorkspaceFields(then, names).map((field) => ({ ...field, now: present.get(field.label) ?? '–' }));
  const count = fields.filter((field) => field.value !== field.now).length;
  return (
    <>
      <Text size="sm" c="dimmed" role="status">
        {count === 0
          ? 'Every field is as it is now.'
          : `${formatCount(count, 'field differs', 'fields differ')} from now.`}
      </Text>
      <WideTable label="Fields of the workspace">
        <thead>
          <tr>
            <th>Field</th>
            <th>At this time</th>
            <th>Now</th>
          </tr>
        </thead>
        <tbody>
          {fields.map(({ label, value, now: presentValue }) => (
            <tr key={label} className={value === presentValue ? undefined : classes['different']}>
              <th scope="row">{label}</th>
              <td>{value}</td>
              <td>{value === presentValue ? <span className={classes['same']}>same</span> : presentValue}</td>
            </tr>
          ))}
        </tbody>
      </WideTable>
    </>
  );
};

type WorkspaceAtProps = {
  readonly organization: string;
  readonly now: WorkspaceDocument;
  /** Undefined for now. */
  readonly at: string | undefined;
};

/** The fields of the workspace at a time, beside those of now. */
export const WorkspaceAt = ({ organization, now, at }: WorkspaceAtProps) => {
  const { id, attributes } = now.data;
  const created = attributes['created-at'];
  const isTooEarly = at !== undefined && Date.parse(at) < Date.parse(created);
  const query = useQuery({
    ...workspaceAsOfQuery(organization, attributes.name, id, at ?? ''),
    enabled: at !== undefined && !isTooEarly,
  });
  if (isTooEarly) {
    return (
      <Text size="sm" role="status">
        The workspace did not exist at this time. It was created at {formatExactTime(created)}. Choose a later time.
      </Text>
    );
  }
  if (at === undefined) return <FieldTable then={now} now={now} />;
  return (
    <QueryState query={query} what="workspace">
      {(then) => <FieldTable then={then} now={now} />}
    </QueryState>
  );
};
