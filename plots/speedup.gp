# speedup.gp - speedup over NCCL: a panel for each family of workloads, a group
# of bars for each topology and workload, one colour for each strategy, and
# behind each group the range that was published for Lagom.
#
#   gnuplot -e "input='speedup.csv'; output='speedup.svg'" plots/speedup.gp
#
# input is what `lagom compare --format csv` prints; output ends in .svg, .png
# or .pdf. Bars start at 1.0, which is NCCL itself: up is faster, down slower.

set datafile separator ','
set encoding utf8

# Pass 1: which groups and strategies there are, in the order of the file, and
# where each family ends.
group_count = 0
panel_count = 0
strategies = ''
array topology[1000]
array workload[1000]
array family[100]
array first[100]
last = ''
last_family = ''
enter_family(f) = last_family eq f ? 0 : \
    (last_family = f, panel_count = panel_count + 1, \
     family[panel_count] = f, first[panel_count] = group_count + 1, 0)
enter_group(f, t, w) = last eq t.','.w ? 0 : \
    (enter_family(f), last = t.','.w, group_count = group_count + 1, \
     topology[group_count] = t, workload[group_count] = w, 0)
enter_strategy(s) = s eq 'nccl' || strstrt(' '.strategies.' ', ' '.s.' ') ? \
    0 : (strategies = strategies.' '.s, 0)
read(f, t, w, s, y) = (enter_group(f, t, w), enter_strategy(s), y)
stats input using (read(strcol('family'), strcol('topology'), \
    strcol('workload'), strcol('strategy'), column('speedup_vs_nccl'))) nooutput
low = STATS_min
high = STATS_max
first[panel_count + 1] = group_count + 1
widest = 1
do for [p = 1:panel_count] {
    groups = first[p + 1] - first[p]
    widest = groups > widest ? groups : widest
}

# Later passes walk the same rows again, once per strategy.
last = ''
at = 0
step(t, w) = last eq t.','.w ? at : (last = t.','.w, at = at + 1)

# Okabe and Ito's colours differ for every kind of sight; a strategy keeps its
# own whatever stands beside it.
known = 'autoccl lagom oracle static anneal random afnfa lagom+'
colours = '#E69F00 #0072B2 #009E73 #CC79A7 #56B4E9 #D55E00 #F0E442 #000000 #999999'
place(s) = sum [i = 1:words(known)] (word(known, i) eq s ? i : 0)
colour(s) = word(colours, place(s) > 0 ? place(s) : words(colours))

width = 0.76 / (words(strategies) > 0 ? words(strategies) : 1)
left(i) = (i - 1) * width - 0.38

bare(name) = (n = strstrt(name, '.yaml'), m = n > 0 ? name[1:n - 1] : name, \
    base(m))
base(name) = (k = strstrt(name, '/'), k > 0 ? name[k + 1:*] : name)

across = 320 + 110 * widest
across = across < 1500 ? 1500 : across
down = 120 + 560 * panel_count
if (strstrt(output, '.svg')) {
    set terminal svg size across, down font 'sans-serif,20' background 'white'
} else { if (strstrt(output, '.pdf')) {
    set terminal pdfcairo size across / 100.0, down / 100.0 \
        font 'sans-serif,20'
} else {
    set terminal pngcairo size across, down font 'sans-serif,20'
} }
set output output

bottom = low < 1 ? floor(low * 20 - 0.5) / 20.0 : 0.95
top = high > 1.35 ? ceil(high * 20 + 0.5) / 20.0 : 1.40
set yrange [bottom:top]
set ytics 0.1 format '%.1f' nomirror
set mytics 2
set xtics out nomirror rotate by 30 right scale 0.5
set grid ytics linewidth 1 linecolor '#DDDDDD'
set border 3 linewidth 1.5
set lmargin 15
set rmargin 2
set tmargin 4.5
set bmargin 6
set style fill solid border linecolor 'white'

set multiplot layout panel_count, 1
do for [p = 1:panel_count] {
    begin = first[p]
    end = first[p + 1] - 1
    unset label
    unset arrow
    set xrange [begin - 0.55:begin - 0.45 + widest]
    set xtics ()
    do for [g = begin:end] { set xtics add (bare(workload[g]) g) }
    set ylabel 'Speedup over NCCL: '.family[p] offset 0.5
    if (p == 1) {
        set key at screen 0.55, screen 0.995 center top horizontal \
            maxrows 2 samplen 1.5 width -2 reverse Left
    } else {
        unset key
    }

    # The topology stands above its groups, with a line between two of them.
    start = begin
    do for [g = begin:end] {
        ends = g == end ? 1 : topology[g + 1] ne topology[g]
        if (ends) {
            set label bare(topology[g]) at (start + g) / 2.0, graph 1.0 \
                center offset 0, 0.6 textcolor '#333333' front
            if (g < end) {
                set arrow from g + 0.5, graph 0 to g + 0.5, graph 1 nohead \
                    linecolor '#AAAAAA' linewidth 1.5 dashtype 2 back
            }
            start = g + 1
        }
    }
    set arrow from begin - 0.5, first 1 to end + 0.5, first 1 nohead \
        linecolor 'black' linewidth 2.5 front

    plot (last = '', at = 0, input) using \
            (g = step(strcol('topology'), strcol('workload'))): \
            (strcol('strategy') eq 'lagom' && g >= begin && g <= end ? 1 : NaN): \
            (g - 0.46):(g + 0.46):(column('published_min')): \
            (column('published_max')) with boxxyerror \
            fillcolor rgb '#E4D9B4' title 'published for Lagom', \
        for [i = 1:words(strategies)] \
            (last = '', at = 0, input) using \
            (g = step(strcol('topology'), strcol('workload')), g + left(i)): \
            (strcol('strategy') eq word(strategies, i) && g >= begin && \
                g <= end ? 1.0 : NaN): \
            (g + left(i)):(g + left(i) + width): \
            (column('speedup_vs_nccl') < 1 ? column('speedup_vs_nccl') : 1): \
            (column('speedup_vs_nccl') > 1 ? column('speedup_vs_nccl') : 1) \
            with boxxyerror linecolor rgb colour(word(strategies, i)) \
            title word(strategies, i), \
        NaN with lines linecolor 'black' linewidth 2.5 title 'NCCL'
}
unset multiplot
