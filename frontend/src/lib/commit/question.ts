// What the commits page can be narrowed to.

export const OPERATIONS = [
  { value: 'any', label: 'any' },
  { value: 'append', label: 'append' },
  { value: 'overwrite', label: 'overwrite' },
  { value: 'delete', label: 'delete' },
  { value: 'replace', label: 'replace' },
] as const;
export type OperationChoice = (typeof OPERATIONS)[number]['value'];

/** Of a search parameter; an unknown one counts as any. */
export const operationOf = (text: string | null): OperationChoice =>
  OPERATIONS.find(({ value }) => value === text)?.value ?? 'any';
