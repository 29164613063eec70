import { Badge, Group, Text } from '@mantine/core';
import type { ConsoleVariable, VariableDefinition, VariableGroup } from '../../api/variables.js';
import { DataTable, type DataColumn } from '../../components/data-table.js';
import { LongText } from '../../components/long-text.js';
import type { RowAction } from '../../components/row-action.js';
import classes from './workspace-variables.module.css';

const Source = ({ set }: { readonly set: VariableDefinition['set'] }) => {
  if (set === null) return <>This workspace</>;
  return (
    <Group gap={6}>
      {set.attributes.name}
      {set.attributes.priority && (
        <Badge color="blue" miw="max-content">
          Priority set
        </Badge>
      )}
    </Group>
  );
};

const Value = ({ variable: { attributes } }: { readonly variable: ConsoleVariable }) => {
  if (attributes.sensitive) return <span className={classes['quiet']}>Sensitive: nobody can read it</span>;
  if (!attributes.value) return <span className={classes['quiet']}>Empty</span>;
  return (
    <>
      <LongText text={attributes.value}>
        <code className={classes['value']}>{attributes.value}</code>
      </LongText>
      {attributes.hcl && <Badge variant="default">HCL</Badge>}
    </>
  );
};

type TableProps = {
  readonly label: string;
  readonly groups: readonly VariableGroup[];
  readonly canChange: boolean;
  readonly onUpdate: (variable: ConsoleVariable) => void;
  readonly onDelete: (variable: ConsoleVariable) => void;
};

type VariableRow = VariableDefinition & {
  readonly id: string;
  /** The source of the variable with the same key that is effective instead; null if this one is effective. */
  readonly overriddenBy: string | null;
};

/** Overridden variables follow the effective one. */
const listDefinitions = (groups: readonly VariableGroup[]): readonly VariableRow[] =>
  groups.flatMap(({ effective, overridden }) => {
    const source = effective.set?.attributes.name ?? 'this workspace';
    return [
      { ...effective, id: effective.variable.id, overriddenBy: null },
      ...overridden.map((definition) => ({ ...definition, id: definition.variable.id, overriddenBy: source })),
    ];
  });

const COLUMNS: readonly DataColumn<VariableRow>[] = [
  {
    header: 'Key',
    cell: ({ variable: { attributes }, overriddenBy }) => (
      <>
        {overriddenBy === null ? (
          <code>{attributes.key}</code>
        ) : (
          <>
            <del>
              <code>{attributes.key}</code>
            </del>
            <div className={classes['quiet']}>Overridden by {overriddenBy}</div>
          </>
        )}
        {attributes.description && (
          <div className={classes['quiet']}>
            <LongText text={attributes.description} />
          </div>
        )}
      </>
    ),
  },
  { header: 'Value', cell: ({ variable }) => <Value variable={variable} /> },
  { header: 'Defined in', cell: ({ set }) => <Source set={set} /> },
];

/** Variables of one category. */
export const VariableTable = ({ label, groups, canChange, onUpdate, onDelete }: TableProps) => {
  if (groups.length === 0) return <Text size="sm">There is no variable of this category.</Text>;
  const listActions = ({ set, variable }: VariableRow): readonly RowAction[] =>
    set !== null || !canChange
      ? []
      : [
          { action: 'Change', onClick: () => onUpdate(variable) },
          { action: 'Delete', isDangerous: true, onClick: () => onDelete(variable) },
        ];
  return (
    <DataTable
      label={label}
      isInCard
      rows={listDefinitions(groups)}
      columns={COLUMNS}
      actions={(row) => ({ name: row.variable.attributes.key, actions: listActions(row) })}
      isQuiet={({ overriddenBy }) => overriddenBy !== null}
    />
  );
};
