import { Badge, Button, Group, Table, Text, VisuallyHidden } from '@mantine/core';
import type { ConsoleVariable, VariableDefinition, VariableGroup } from '../../api/variables.js';
import { LongText } from '../../components/long-text.js';
import { WideTable } from '../../components/wide-table.js';
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

type RowProps = Pick<TableProps, 'canChange' | 'onUpdate' | 'onDelete'> & {
  readonly definition: VariableDefinition;
  /** The source of the variable with the same key that is effective instead; null if this one is effective. */
  readonly overriddenBy: string | null;
};

const RowActions = ({ definition: { variable, set }, canChange, onUpdate, onDelete }: RowProps) => {
  if (set !== null || !canChange) return null;
  const { key } = variable.attributes;
  return (
    <Group gap={4} wrap="nowrap" justify="flex-end">
      <Button size="compact-sm" variant="default" aria-label={`Change ${key}`} onClick={() => onUpdate(variable)}>
        Change
      </Button>
      <Button size="compact-sm" variant="default" aria-label={`Delete ${key}`} onClick={() => onDelete(variable)}>
        Delete
      </Button>
    </Group>
  );
};

const VariableRow = (props: RowProps) => {
  const { definition, overriddenBy } = props;
  const { key, description } = definition.variable.attributes;
  return (
    <Table.Tr data-overridden={overriddenBy !== null || undefined} className={classes['row']}>
      <Table.Td>
        <code>{key}</code>
        {overriddenBy !== null && <div className={classes['reason']}>Overridden by {overriddenBy}</div>}
        {description && (
          <div className={classes['quiet']}>
            <LongText text={description} />
          </div>
        )}
      </Table.Td>
      <Table.Td>
        <Value variable={definition.variable} />
      </Table.Td>
      <Table.Td>
        <Source set={definition.set} />
      </Table.Td>
      <Table.Td>
        <RowActions {...props} />
      </Table.Td>
    </Table.Tr>
  );
};

/** Variables of one category. Overridden ones follow the effective one. */
export const VariableTable = ({ label, groups, ...actions }: TableProps) => {
  if (groups.length === 0) return <Text size="sm">There is no variable of this category.</Text>;
  return (
    <WideTable label={label}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Key</Table.Th>
          <Table.Th>Value</Table.Th>
          <Table.Th>Defined in</Table.Th>
          <Table.Th>
            <VisuallyHidden>Actions</VisuallyHidden>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {groups.flatMap(({ effective, overridden }) => {
          const source = effective.set?.attributes.name ?? 'this workspace';
          return [
            <VariableRow key={effective.variable.id} definition={effective} overriddenBy={null} {...actions} />,
            ...overridden.map((definition) => (
              <VariableRow key={definition.variable.id} definition={definition} overriddenBy={source} {...actions} />
            )),
          ];
        })}
      </Table.Tbody>
    </WideTable>
  );
};
