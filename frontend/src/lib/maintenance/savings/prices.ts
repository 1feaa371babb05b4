// Prices of a comparison as fields with own numbers, and the prices that are then calculated with. Pure.
import type { Schemas } from '#lib/api/client.ts';
import type { UnitPrices } from './formula.ts';

type Prices = Schemas['Prices'];
type Name = keyof UnitPrices;

const PARTS: readonly [name: Name, label: string, unit: string][] = [
  ['storage_gb_month', 'Storage', 'a GB and month'],
  ['get_1000', 'GET requests', 'for 1,000'],
  ['vcpu_hour', 'vCPU', 'an hour'],
];

/** The fields; amounts are in the currency of the prices. */
export const priceFields = (prices: Prices) =>
  PARTS.map(([name, label, unit]) => ({
    name,
    label: `${label}, ${prices.currency}`,
    unit,
    usual: prices[name],
  }));

/** The prices with own numbers in place of some. */
export const ownPrices = (prices: Prices, own: Readonly<Record<string, number>>): UnitPrices => ({
  storage_gb_month: own['storage_gb_month'] ?? prices.storage_gb_month,
  get_1000: own['get_1000'] ?? prices.get_1000,
  vcpu_hour: own['vcpu_hour'] ?? prices.vcpu_hour,
});
