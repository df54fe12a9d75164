/** Something of each further door that Node has, so that the compiler reads the types of all of them. */
export type { OfficeGroup } from "@a2c-smcp/sdk/group";
export type { Provider } from "@a2c-smcp/sdk/provider";
