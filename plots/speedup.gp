# speedup.gp - speedup over NCCL, one group of bars for each topology and
# workload, one colour for each strategy.
#
#   gnuplot -e "input='speedup.csv'; output='speedup.svg'" plots/speedup.gp
#
# input is what `lagom compare --format csv` prints; output ends in .svg, .png
# or .pdf. Bars start at 1.0, which is NCCL itself: up is faster, down slower.

set datafile separator ','
set encoding utf8

# Pass 1: which groups and strategies there are, in the order of the file.
group_count = 0
strategies = ''
array topology[1000]
array workload[1000]
last = ''
enter_group(t, w) = last eq t.','.w ? 0 : \
    (last = t.','.w, group_count = group_count + 1, \
     topology[group_count] = t, workload[group_count] = w, 0)
enter_strategy(s) = s eq 'nccl' || strstrt(' '.strategies.' ', ' '.s.' ') ? \
    0 : (strategies = strategies.' '.s, 0)
read(t, w, s, y) = (enter_group(t, w), enter_strategy(s), y)
stats input using (read(strcol('topology'), strcol('workload'), \
    strcol('strategy'), column('speedup_vs_nccl'))) nooutput
low = STATS_min
high = STATS_max

# Pass 2 walks the same rows again, once per strategy.
last = ''
at = 0
step(t, w) = last eq t.','.w ? at : (last = t.','.w, at = at + 1)

# Okabe and Ito's colours differ for every kind of sight; a strategy keeps its
# own whatever stands beside it.
known = 'autoccl lagom oracle static anneal random afnfa'
colours = '#E69F00 #0072B2 #009E73 #CC79A7 #56B4E9 #D55E00 #F0E442 #999999'
place(s) = sum [i = 1:words(known)] (word(known, i) eq s ? i : 0)
colour(s) = word(colours, place(s) > 0 ? place(s) : words(colours))

width = 0.76 / (words(strategies) > 0 ? words(strategies) : 1)
left(i) = (i - 1) * width - 0.38

bare(name) = (n = strstrt(name, '.yaml'), m = n > 0 ? name[1:n - 1] : name, \
    base(m))
base(name) = (k = strstrt(name, '/'), k > 0 ? name[k + 1:*] : name)

pixels = 260 + 110 * group_count
pixels = pixels < 900 ? 900 : pixels
if (strstrt(output, '.svg')) {
    set terminal svg size pixels, 800 font 'sans-serif,22' background 'white'
} else { if (strstrt(output, '.pdf')) {
    set terminal pdfcairo size pixels / 100.0, 8 font 'sans-serif,22'
} else {
    set terminal pngcairo size pixels, 800 font 'sans-serif,22'
} }
set output output

bottom = low < 1 ? floor(low * 20 - 0.5) / 20.0 : 0.95
top = high > 1.35 ? ceil(high * 20 + 0.5) / 20.0 : 1.40
set yrange [bottom:top]
set xrange [0.45:group_count + 0.55]
set ylabel 'Speedup over NCCL' offset 0.5
set ytics 0.1 format '%.1f' nomirror
set mytics 2
set xtics out nomirror rotate by 30 right scale 0.5
set xtics ()
do for [g = 1:group_count] { set xtics add (bare(workload[g]) g) }
set grid ytics linewidth 1 linecolor '#DDDDDD'
set border 3 linewidth 1.5
set tmargin 2.6
set bmargin 5.6
set rmargin 2
set key outside top center horizontal maxrows 1 samplen 1.5 reverse Left

# The topology stands above its groups, with a line between two of them.
first = 1
do for [g = 1:group_count] {
    ends = g == group_count ? 1 : topology[g + 1] ne topology[g]
    if (ends) {
        set label bare(topology[g]) at (first + g) / 2.0, graph 1.0 center \
            offset 0, -0.8 textcolor '#333333' front
        if (g < group_count) {
            set arrow from g + 0.5, graph 0 to g + 0.5, graph 1 nohead \
                linecolor '#AAAAAA' linewidth 1.5 dashtype 2 back
        }
        first = g + 1
    }
}

set object rectangle from graph 0, first 1.10 to graph 1, first 1.33 \
    fillcolor '#EFE9D5' fillstyle solid noborder behind
set arrow from graph 0, first 1 to graph 1, first 1 nohead \
    linecolor 'black' linewidth 2.5 front
set style fill solid border linecolor 'white'

plot for [i = 1:words(strategies)] \
        (last = '', at = 0, input) using \
        (g = step(strcol('topology'), strcol('workload')), g + left(i)): \
        (strcol('strategy') eq word(strategies, i) ? 1.0 : NaN): \
        (g + left(i)):(g + left(i) + width): \
        (column('speedup_vs_nccl') < 1 ? column('speedup_vs_nccl') : 1): \
        (column('speedup_vs_nccl') > 1 ? column('speedup_vs_nccl') : 1) \
        with boxxyerror linecolor rgb colour(word(strategies, i)) \
        title word(strategies, i), \
    NaN with lines linecolor 'black' linewidth 2.5 title 'NCCL', \
    NaN with boxes fillcolor rgb '#EFE9D5' title 'paper: 1.10–1.33'
