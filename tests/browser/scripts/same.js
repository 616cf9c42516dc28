async (wanted) => {
    const now = await (LOOK)(), same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
    return Object.entries(JSON.parse(wanted)).every(([part, was]) => same(now[part], was));
}
