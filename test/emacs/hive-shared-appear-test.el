;;; hive-shared-appear-test.el --- Showing the shared buffer at a mention  -*- lexical-binding: t; -*-

(require 'cl-lib)
(require 'ert)
(require 'hive-notify)
(require 'hive-shared)
(require 'hive-shared-test-help)

(defmacro hive-shared-appear-test (&rest body)
  "Run BODY in one window that shows a draft of the human, with agents at hand."
  (declare (indent 0) (debug t))
  `(hive-shared-test-with
     (save-window-excursion
       (with-temp-buffer
         (setq default-directory project)
         (insert "what the human writes")
         (delete-other-windows)
         (switch-to-buffer (current-buffer))
         (goto-char 7)
         (let ((hive-shared--to-show nil))
           ,@body)))))

(defun hive-shared-appear-test-window ()
  "Return the window of the project's shared buffer, or nil."
  (let ((buffer (get-buffer "*hive-shared: demo*")))
    (and buffer (get-buffer-window buffer))))

(defun hive-shared-appear-test-mention (&optional body)
  "Let an agent post BODY, which mentions the human, and wait until Emacs knows it."
  (let ((before (hive-mentions-count)))
    (hive-shared-test-post (or body "@Human look"))
    (hive-test-wait 5 (> (hive-mentions-count) before))
    (hive-test-wait 5 (null (hive-rpc-planned-p #'hive-notify--if-free #'hive-shared--show)))))

(ert-deftest hive-shared-appear/opens-beside-this-window-only-where-emacs-would-split-it ()
  (hive-shared-appear-test
    (let ((buffer (hive-shared-buffer (hive-place-of))) (window-min-width 2) (whole (frame-width)))
      (cl-flet ((open (threshold position)
                  (save-window-excursion
                    (let ((split-width-threshold threshold))
                      (hive-shared-display buffer position)
                      (list (window-left-column) (window-total-width))))))
        (should (eq buffer (window-buffer (progn (hive-shared-display buffer 'current) (selected-window)))))
        (switch-to-buffer "*scratch*")
        (should (< 0 (car (open whole 'right))))
        (should (equal 0 (car (open whole 'left))))
        (should (< (cadr (open whole 'left)) whole))
        ;; Two windows of half the width would be too narrow.
        (dolist (position '(right left))
          (should (equal (list 0 whole) (open (1+ whole) position)))
          (should (equal (list 0 whole) (open nil position))))
        ;; A window that is there already is taken.
        (split-window-right)
        (should (< 0 (car (open nil 'right))))))))

(ert-deftest hive-shared-appear/nothing-is-shown-unless-it-is-wanted ()
  (hive-shared-appear-test
    (should-not (default-value 'hive-shared-on-mention))
    (hive-shared-appear-test-mention)
    (should (one-window-p t))
    (should-not (get-buffer "*hive-shared: demo*"))))

(ert-deftest hive-shared-appear/at-a-side-without-being-selected ()
  (dolist (side '(right left bottom top))
    (ert-info ((symbol-name side))
      (hive-shared-appear-test
        (let ((hive-shared-on-mention side) (selected (selected-window)) (buffer (current-buffer)))
          (hive-shared-appear-test-mention)
          (hive-test-wait 5 (hive-shared-appear-test-window))
          (should (eq side (window-parameter (hive-shared-appear-test-window) 'window-side)))
          (should (eq selected (selected-window)))
          (should (eq buffer (current-buffer)))
          (should (= 7 (point) (window-point)))
          (with-current-buffer "*hive-shared: demo*"
            (hive-shared-test-wait-for "@Human look")))))))

(ert-deftest hive-shared-appear/in-another-window-of-this-frame ()
  (hive-shared-appear-test
    (let ((hive-shared-on-mention 'display) (split-window-preferred-function #'ignore)
          (pop-up-frames t) (selected (selected-window)))
      ;; There is no other window, and none can be made, so nothing is shown.
      (hive-shared-appear-test-mention)
      (should (one-window-p t))
      (let ((other (split-window)))
        (hive-shared-appear-test-mention)
        (should (eq other (hive-shared-appear-test-window)))
        (should (eq selected (selected-window)))
        (should (= 7 (point) (window-point)))))))

(ert-deftest hive-shared-appear/it-stays-closed-until-the-next-mention-and-is-shown-once ()
  (hive-shared-appear-test
    (let ((hive-shared-on-mention 'bottom))
      (hive-shared-appear-test-mention)
      (hive-shared-appear-test-mention)
      (should (= 1 (length (get-buffer-window-list "*hive-shared: demo*"))))
      (delete-window (hive-shared-appear-test-window))
      (hive-shared-test-post "mentions nobody")
      (with-current-buffer "*hive-shared: demo*" (hive-shared-test-wait-for "mentions nobody"))
      (should-not (hive-shared-appear-test-window))
      (hive-shared-appear-test-mention)
      (should (hive-shared-appear-test-window)))))

(ert-deftest hive-shared-appear/a-buffer-that-is-visible-stays-where-it-is ()
  (hive-shared-appear-test
    (let ((hive-shared-on-mention 'bottom) (other (split-window)))
      (set-window-buffer other (hive-shared-buffer (hive-place-of)))
      (hive-shared-appear-test-mention)
      (should (equal (list other) (get-buffer-window-list "*hive-shared: demo*"))))))

(ert-deftest hive-shared-appear/waits-while-the-human-is-busy ()
  (hive-shared-appear-test
    (let ((hive-shared-on-mention 'bottom) (busy t))
      (cl-letf (((symbol-function 'hive-notify-busy-p) (lambda () busy)))
        (hive-shared-test-post "@Human look")
        (hive-test-wait 5 (hive-rpc-planned-p #'hive-notify--if-free #'hive-shared--show))
        (hive-test-pass 0.2)
        (should (one-window-p t))
        (setq busy nil)
        (hive-test-wait 5 (hive-shared-appear-test-window))))))

(ert-deftest hive-shared-appear/a-mention-processed-before-is-not-shown ()
  (hive-shared-appear-test
    (let ((hive-shared-on-mention 'bottom) (busy t))
      (cl-letf (((symbol-function 'hive-notify-busy-p) (lambda () busy)))
        (hive-shared-test-post "@Human look")
        (hive-test-wait 5 (= 1 (hive-mentions-count)))
        (hive-mentions-process nil :all t)
        (hive-test-wait 5 (= 0 (hive-mentions-count)))
        (setq busy nil)
        (hive-test-wait 5 (null (hive-rpc-planned-p #'hive-notify--if-free #'hive-shared--show)))
        (should (one-window-p t))))))

(ert-deftest hive-shared-appear/in-quiet-hours-only-for-urgent-mentions ()
  (hive-shared-appear-test
    (let ((hive-shared-on-mention 'bottom))
      (cl-letf (((symbol-function 'hive-quiet-text) (lambda () "Quiet")))
        (hive-shared-appear-test-mention)
        (should (one-window-p t))
        (hive-shared-test-post "@Human now" :priority "urgent")
        (hive-test-wait 5 (hive-shared-appear-test-window))))))

;;;; Whose

(ert-deftest hive-shared-appear/each-message-is-new-once ()
  (let ((hive-shared--seq nil))
    (cl-flet ((new-p (seq &optional delivered status)
                (and (hive-shared--new-p (list :seq seq :delivered_at delivered
                                                      :status (or status "unprocessed")))
                     t)))
      ;; At the start, a mention that somebody has read is an old one.
      (should-not (new-p 3 "2026-01-11T18:00:00.000Z"))
      (should-not (new-p 2))
      (should (new-p 4))
      ;; Another mention in the same message, and changes of both.
      (should-not (new-p 4))
      (should-not (new-p 4 "2026-01-11T18:00:00.000Z"))
      ;; A mention that its addressee read at once is still new.
      (should (new-p 5 "2026-01-11T18:00:00.000Z"))
      (should-not (new-p 6 nil "processed"))
      (hive-shared--forget-seen)
      (should (new-p 1)))))

(ert-deftest hive-shared-appear/mentions-of-others-only-when-they-are-wanted ()
  (hive-shared-appear-test
    (let ((hive-shared-on-mention 'bottom) (told 0))
      (cl-flet ((post (body)
                  (let ((before told))
                    (hive-shared-test-post body)
                    (hive-test-wait 5 (> told before))
                    (hive-test-wait 5 (null (hive-rpc-planned-p #'hive-notify--if-free #'hive-shared--show))))))
        (let ((hive-mentions-changed-functions
               (append hive-mentions-changed-functions (list (lambda (_) (cl-incf told))))))
          (post "@Claude-def34 look")
          (should (one-window-p t))
          (let ((hive-shared-on-mention-of 'anyone))
            (post "@Claude-def34 look again")
            (should (hive-shared-appear-test-window))
            ;; Processing it is not a new mention.
            (delete-window (hive-shared-appear-test-window))
            (let ((before told))
              (hive-mentions-process nil :all t :session "Claude-def34")
              (hive-test-wait 5 (>= told (+ 2 before))))
            (should (one-window-p t))))))))

(ert-deftest hive-shared-appear/mentions-of-others-in-projects-that-are-not-yours-are-left-alone ()
  (hive-shared-appear-test
    (let ((hive-shared-on-mention 'bottom) (hive-shared-on-mention-of 'anyone) (told 0))
      (hive-shared-test-do "join" :session_id "zzz99-session" :project "other"
                           :project_dir "/other/.git")
      (let ((hive-mentions-changed-functions
             (append hive-mentions-changed-functions (list (lambda (_) (cl-incf told))))))
        (hive-shared-test-do "post" :from "Claude-zzz99" :body "@Claude-abc12 far away")
        (hive-test-wait 5 (= 1 told))
        (hive-test-wait 5 (null (hive-rpc-planned-p #'hive-notify--if-free #'hive-shared--show)))
        (should (one-window-p t))
        ;; Unless its buffer is open.
        (hive-shared-buffer '(:confirmed t :project "other" :project_dir "/other/.git"))
        (hive-shared-test-do "post" :from "Claude-zzz99" :body "@Claude-abc12 again")
        (hive-test-wait 5 (get-buffer-window "*hive-shared: other*"))))))
